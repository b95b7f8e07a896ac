"""gather_points and grouping_operation."""

from ...torch.filling.gather_points import (gather_points_backward, gather_points_forward, group_points_backward,
                                            group_points_forward, stack_group_points_backward,
                                            stack_group_points_forward)

ENTRY_POINTS = (gather_points_forward, gather_points_backward, group_points_forward, group_points_backward,
                stack_group_points_forward, stack_group_points_backward)
