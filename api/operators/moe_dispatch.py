"""MoE dispatch."""
from api.generate.describe import *

family("MoeDispatch", "Tutel's sparse dispatch; mluOp's moe_dispatch.",
       letters={"slots": "num_experts * capacity"})

shape("mluopsMoeDispatchShape", "samples, capacity, hidden, experts")

SAY = {"slots": "num_experts * capacity"}
DERIVE = {"slots": "num_experts * capacity"}
FITS = {"fits": rule("samples <= slots", "samples: wanted at most {slots}, num_experts * capacity, got {samples}")}
ORDER = ("numbers descs ranks layouts dtypes sizes fits dense done_if_empty data overlap")
BACKWARD_ORDER = ORDER.replace("fits ", "")  # several samples may read one row
NUMBERS = """const int samples >= 0
    const int capacity >= 0
    const int hidden >= 0
    const int num_experts >= 0"""
PLACES = """in indices INT32 [samples] -- the expert of each sample
    in locations INT32 [samples] -- its place among the `capacity` places of the expert. A sample whose expert or place
        -- is out of range has no row."""
GRADIENT = "in dispatch:grad_dispatch T [slots, hidden] -- the gradient of the forward call's result"
TYPES = """A tensor without elements: SUCCESS, nothing written. Source: Tutel's sparse kernels, version 0.2."""

operator("moe_dispatch_forward", "mluOpMoeDispatchForward", 96, doc=f"""Puts each sample, times its gate, in the row of its expert and place.

  dispatch[indices[i] * capacity + locations[i], :] = gates[i] * input[i, :]

{TYPES}""", args=f"""
    in gates T [samples]
    {PLACES}
    in input T [samples, hidden]
    {NUMBERS}
    out dispatch T [slots, hidden] -- rows of samples are written, others keep what they hold: a top-k gate calls this
        -- k times. Of several samples of a row the last one counts.
    """,
    order=ORDER, keys="samples capacity hidden experts", floats="FLOAT", say=SAY, derive=DERIVE,
    rules=FITS, fill={"experts": "args.num_experts"}, no_numpy=True)

getter("mluOpGetMoeDispatchBackwardGateWorkspaceSize", "moe_dispatch_backward_gate", "input",
       "handle descs(input) size")

operator("moe_dispatch_backward_gate", "mluOpMoeDispatchBackwardGate", 97, doc=f"""The gradient of gates: grad_gates[i] = the sum over h of dispatch[row of i, h] * input[i, h].

{TYPES}""", args=f"""
    {PLACES}
    in input T [samples, hidden]
    {GRADIENT}
    {NUMBERS}
    workspace
    out grad_gates T [samples] -- 0 for a sample without row
    """,
    order=BACKWARD_ORDER, keys="samples capacity hidden experts", floats="FLOAT", say=SAY, derive=DERIVE,
    fill={"experts": "args.num_experts"})

operator("moe_dispatch_backward_data", "mluOpMoeDispatchBackwardData", 98, doc=f"""The gradient of input: grad_input[i, :] = gates[i] * dispatch[row of i, :].

{TYPES}""", args=f"""
    in gates T [samples]
    {PLACES}
    {GRADIENT}
    {NUMBERS}
    out grad_input T [samples, hidden] -- 0 for a sample without row
    """,
    order=BACKWARD_ORDER, keys="samples capacity hidden experts", floats="FLOAT", say=SAY, derive=DERIVE,
    fill={"experts": "args.num_experts"})
