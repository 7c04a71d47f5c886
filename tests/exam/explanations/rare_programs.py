"""Random programs in styles that are rare: layouts changed in place, shared memory, operations without a rule."""

from __future__ import annotations

from tests.exam.explanations.programs import UNARY, Style, Writer

LAYOUTS = [
    *("{x}.t_()", "{x}.transpose_(0, 1)", "{x}.swapdims_(0, 1)", "{x}.unsqueeze_(0).squeeze_(0)"),
    *("{x}.unsqueeze_(0)", "{x}.resize_(2, 2)", "{x}.as_strided_((2, 2), (1, 1))", "{x}.set_(torch.ones(2, 2))"),
]


def changed_layouts(writer: Writer) -> None:
    """Change layouts in place, of variables of the program and of functions."""
    pick = writer.chance.choice
    writer.lines += ["def change(u):", f"    k = {writer.fill(pick(UNARY), a='u')}"]
    writer.lines += [f"    {pick(LAYOUTS).format(x='u')}", f"    return k, {writer.fill(pick(UNARY), a='u')}"]
    writer.lines += ["def make(y):", "    t = y * 2", f"    r = {writer.fill(pick(UNARY), a='t')}"]
    writer.lines += [f"    {pick(LAYOUTS).format(x='t')}", f"    z = {writer.fill(pick(UNARY), a='t')}"]
    writer.lines += ["    return r, z"]
    writer.assign("x", "a.clone()")
    writer.assign("before", "x + 1")
    writer.lines += [pick((pick(LAYOUTS).format(x="x"), "c, d = change(x)", "c, d = change(a * 3)"))]
    writer.assign("after", "x - 1")
    writer.lines += ["e, f = make(b)", "c, d = change(b)"]
    writer.names += ["c", "d", "e", "f"]


NO_RULE = [
    *("torch.linalg.qr({x})[0]", "torch.linalg.svd({x})[0]", "torch.linalg.inv({s})", "torch.linalg.eigh({s})[1]"),
    *("torch.linalg.solve({s}, {s}.T)", "torch.fft.fft({x}).real", "torch.fft.rfft({x}).imag", "torch.histc({x}, 3)"),
    *("torch.lgamma({x}.abs() + 1)", "torch.special.zeta({x}.abs() + 2, {x}.abs() + 1)", "torch.linalg.det({s})"),
    *("torch.sparse.mm({x}.to_sparse(), {x}.T)", "{x}.to_sparse().to_dense()", "torch.linalg.cholesky({s} @ {s}.T)"),
    *("torch.linalg.lu({s})[2]", "torch.linalg.pinv({x})", "torch.linalg.matrix_exp({s})", "torch.trapezoid({x})"),
]


def without_rule(writer: Writer) -> None:
    """Call operations that have no rule of their own."""
    pick = writer.chance.choice
    writer.assign("s", "torch.rand(3, 3) + 2 * torch.eye(3)")
    for name in "cdef":
        writer.assign(name, pick(NO_RULE).format(x=pick(("a", "b", "(a - b)")), s="s") + pick(("", " * 2")))


def python_numbers(writer: Writer) -> None:
    """Take numbers out of tensors, and compute with them in other types."""
    pick = writer.chance.choice
    writer.lines += ["v = torch.tensor([1e300, 1e-300, 0.1, -3.0], dtype=torch.float64)"]
    items = ["v[{i}].item()", "float(v[{i}])", "v.tolist()[{i}]", "v[{i}].item() * 0.5", "a.max().item()", "len(a)"]
    for name in "cdef":
        number = pick(items).format(i=pick("0123"))
        low = pick(("a", "a.double()", "a.bfloat16()", "(a * 4).long()"))
        code = pick(["{x} * {n}", "{n} * {x}", "{x} > {n}", "{x} + {n}", "{n} - {x}", "{x} / {n}", "{x} <= {n}"])
        writer.assign(name, code.format(x=low, n=number))


MEDIANS = [
    *("{x}.median()", "{x}.median(1).indices", "{x}.nanmedian()", "{x}.nanmedian(1).values", "{x}.median(0).values"),
    *("{x}.nanmedian(0).indices", "{x}.kthvalue(2, 1).values", "{x}.round().mode(1).values", "{x}.quantile(0.5)"),
    *("{x}.nanquantile(0.3, dim=0)", "{x}.max(1).values", "{x}.amin(0)", "{x}.abs().max()", "{x}.sort(1).indices"),
]


def chosen(writer: Writer) -> None:
    """Choose from numbers of which some are not finite."""
    pick = writer.chance.choice
    for name in "xy":
        writer.assign(name, f"{pick('ab')}.clone()")
        for _ in range(writer.chance.randint(0, 2)):
            number = pick(("torch.nan", "torch.inf", "-torch.inf", "0.0"))
            writer.lines.append(f"{name}[{pick('01')}, {pick('01')}] = {number}")
    for name in "cdef":
        code = pick([*MEDIANS, "torch.where({x} > 0, x, y)", "torch.maximum(x, y)", "{x}.sqrt()", "1 / {x}"])
        writer.assign(name, code.format(x=pick("xy")))


def written_wide(writer: Writer) -> None:
    """Write expressions over several lines."""
    pick = writer.chance.choice
    calls = ["\n    .exp()", "\n    .mul(\n        2\n    )", "\n    .T", "\n    .tanh()", " \\\n    .abs()"]
    writer.lines += ["def wide(t):", "    h = (\n        t\n        .clamp(\n            -1,\n            1)\n    )"]
    writer.lines += ["    return h \\\n        * 2"]
    for name in "cde":
        chain = "".join(pick(calls) for _ in range(writer.chance.randint(1, 3)))
        writer.assign(name, f"(\n    {pick('ab')}{chain}\n)")
    writer.assign("f", f"wide(\n    {pick('cde')}\n)")


def shared_memory(writer: Writer) -> None:
    """Make several tensors of one memory."""
    pick = writer.chance.choice
    writer.lines += ["import warnings", "warnings.simplefilter('ignore')", "buffer = bytearray(24)"]
    writer.lines += ["p = torch.frombuffer(buffer, dtype=torch.float32)"]
    makes = ["torch.frombuffer(buffer, dtype=torch.float32)", "torch.utils.dlpack.from_dlpack(p)", "p.detach()"]
    writer.lines += [f"q = {pick(makes)}", "c = p + 1"]
    writer.lines += [pick(("p.fill_(1.5)", "q.add_(2)", "p[0] = 3", "q *= 0"))]
    writer.lines += ["d = q * 3", pick(("p += 1", "q.sub_(1)"))]
    writer.names += ["p", "q", "c", "d"]


def flat_gradients(writer: Writer) -> None:
    """Take derivatives where some numbers are masked, or all are the same."""
    pick = writer.chance.choice
    writer.lines += [f"p = ({pick(('a', 'a * 0 + 0.5', 'a.relu()'))}).detach().requires_grad_()"]
    writer.lines += [f"t = {pick(('p', 'p.masked_fill(b > 0, 0.25)', 'torch.where(b > 0, p, b)', 'p.clamp(0, 1)'))}"]
    last = ["t.std(1)", "t.var(0)", "t.norm(dim=1)", "t.norm()", "t.std()", "F.normalize(t, dim=1)", "t.prod(1)"]
    last += ["t.amax(1)", "t.median(1).values", "t.logsumexp(0)", "torch.cdist(t, t)"]
    writer.lines += [f"s = {pick(last)}", "(s * s).sum().backward()", "g = p.grad"]
    writer.names += ["p", "t", "s", "g"]


FUNCTIONS = ["u.sin()", "u * 2 + 1", "u.exp() / 3", "u.abs() + u", "u - u.mean()", "u.softmax(-1)", "u.cumsum(-1)"]
"""Bodies of functions of one tensor."""


def taken_functions(writer: Writer) -> None:
    """Give functions to operations: what such an operation computes inside is one operation for the tutor."""
    pick = writer.chance.choice
    writer.lines += ["from torch._higher_order_ops.associative_scan import associative_scan"]
    writer.lines += ["from torch._higher_order_ops.map import map as map_rows"]
    writer.lines += ["from torch._higher_order_ops.scan import scan"]
    writer.lines += ["from torch._higher_order_ops.while_loop import while_loop"]
    writer.lines += ["from torch.nn.attention.flex_attention import create_block_mask, flex_attention"]
    writer.lines += ["q, k, v = (torch.randn(1, 2, 4, 8) for _ in range(3))"]
    scores = ["s + x - y", "torch.where(x >= y, s, -torch.inf)", "s * 0.5"]
    makes = [
        f"torch.cond({{x}}.sum() > {pick('01')}, lambda u: {pick(FUNCTIONS)}, lambda u: {pick(FUNCTIONS)}, ({{x}},))",
        "while_loop(lambda i, u: i < 3, lambda i, u: (i + 1, u * 0.5 + 1), (torch.tensor(0), {x}))[1]",
        "scan(lambda s, u: (s + u, s * 1.5), torch.zeros({m}), {x})[1]",
        "associative_scan(lambda u, w: u * w, {x}, 0, combine_mode='generic')",
        f"map_rows(lambda u: {pick(FUNCTIONS)}, {{x}})",
        f"flex_attention(q, k, v, score_mod=lambda s, b, h, x, y: {pick(scores)})[0, 1]",
        "flex_attention(q, k, v, block_mask=create_block_mask(lambda b, h, x, y: x >= y, 1, 2, 4, 4, 'cpu'))[0, 0]",
    ]
    for name in "cde":
        writer.assign(name, pick(makes).format(x=pick(("a", "b", "(a + b)")), m=writer.columns) + pick(("", " * 2")))


def transformed_functions(writer: Writer) -> None:
    """Turn functions into others: over rows, into derivatives, and into both."""
    pick = writer.chance.choice
    writer.lines += ["from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap"]
    writer.lines += ["from torch.utils.checkpoint import checkpoint"]
    writer.lines += [
        "def f(u):",
        f"    w = {pick(FUNCTIONS)}",
        "    return w * u",
        "def loss(u):",
        "    return f(u).sum()",
    ]
    makes = ["vmap(f)({x})", "vmap(f, in_dims=1, out_dims=1)({x})", "grad(loss)({x})", "vmap(grad(loss))({x})"]
    makes += ["jacrev(f)({x}[0])", "jacfwd(f)({x}[0])", "hessian(loss)({x}[0])", "jvp(f, ({x},), (b,))[1]"]
    makes += ["vjp(f, {x})[1](b)[0]", "vmap(torch.dot)({x}, b)", "vmap(lambda u, w: u @ w, (0, None))({x}, b.T)"]
    makes += ["checkpoint(f, {x}, use_reentrant=False)", "vmap(lambda u: u + torch.rand(2, 1), randomness='same')({x})"]
    for name in "cde":
        writer.assign(name, pick(makes).format(x=pick(("a", "b", "(a + b)"))) + pick(("", " * 2")))


def under_autocast(writer: Writer) -> None:
    """Compute under autocast, whose operations choose the type, also nested and switched off."""
    pick = writer.chance.choice
    kind = pick(("bfloat16", "float16"))
    makes = ["{x} @ {y}.T", "F.linear({x}, {y})", "torch.softmax({x} @ {y}.T, -1)", "({x} @ {y}.T).exp()", "{x} + {y}"]
    makes += ["F.layer_norm({x} @ {y}.T, [len(b)])", "torch.cat([{x} @ {y}.T, {x}.double() @ {y}.double().T])"]
    makes += ["({x} @ {y}.T) + a[:, :1]", "F.scaled_dot_product_attention({x}[None], {y}[None], {y}[None])[0]"]
    makes += ["F.mse_loss({x} @ {y}.T, a @ b.T)", "({x} @ {y}.T).sum()", "torch.einsum('ij,kj->ik', {x}, {y})"]
    writer.lines += ["p = a.clone().requires_grad_()", f"with torch.autocast('cpu', torch.{kind}):"]
    for name in "cd":
        writer.lines.append(f"    {name} = {pick(makes).format(x='p', y=pick('ab'))}")
    writer.lines += [
        "    with torch.autocast('cpu', enabled=False):",
        f"        e = {pick(makes).format(x='p', y='b')}",
    ]
    writer.lines += [f"(c.float().sum() + {pick(('d.float().sum()', 'd.float().square().mean()'))}).backward()"]
    writer.lines += ["g = p.grad"]
    writer.names += ["c", "d", "e", "g"]


RARE_STYLES: dict[str, Style] = {
    "changed layouts": changed_layouts,
    "without rule": without_rule,
    "numbers of Python": python_numbers,
    "chosen": chosen,
    "several lines": written_wide,
    "shared memory": shared_memory,
    "flat gradients": flat_gradients,
    "taken functions": taken_functions,
    "transformed functions": transformed_functions,
    "under autocast": under_autocast,
}
