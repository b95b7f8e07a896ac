"""ball_query."""

from ...torch.filling.ball_query import ball_query_forward, stack_ball_query_forward

ENTRY_POINTS = (ball_query_forward, stack_ball_query_forward)
