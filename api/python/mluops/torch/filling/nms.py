"""nms, softnms and nms_match, which return their results."""

from .._buffers import fill_first
from ..op import nms as _nms


def nms(boxes, scores, iou_threshold, offset):
    return _nms.kept(boxes, scores, iou_threshold, offset)


def softnms(boxes, scores, dets, iou_threshold, sigma, min_score, method, offset):
    found, indices = _nms.softened(boxes, scores, iou_threshold, sigma, min_score, method, offset)
    fill_first("dets", dets, found)
    return indices


def nms_match(dets, iou_threshold):
    return [group.tolist() for group in _nms.nms_match(dets, iou_threshold)]
