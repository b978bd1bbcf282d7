"""Adam without torch's compiler.

`torch.optim` shields a few methods from `torch.compile`, and the shield imports the whole compiler
when a method is first called: more than a second in every process that trains, for nothing. The
methods below are the same ones without the shield, so the numbers are the same to the last bit.
"""

from inspect import unwrap

import torch
from torch.optim import Adam


class EagerAdam(Adam):
    """`torch.optim.Adam` for programs that compile nothing and take no gradient of a step."""

    add_param_group = unwrap(Adam.add_param_group)
    load_state_dict = unwrap(Adam.load_state_dict)
    state_dict = unwrap(Adam.state_dict)
    zero_grad = unwrap(Adam.zero_grad)
    step = torch.no_grad()(unwrap(Adam.step))
