"""assign_score_withk."""

from ...torch.filling.assign_score_withk import assign_score_withk_backward, assign_score_withk_forward

ENTRY_POINTS = (assign_score_withk_forward, assign_score_withk_backward)
