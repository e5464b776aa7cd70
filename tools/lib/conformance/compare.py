# SPDX-License-Identifier: Apache-2.0
"""Sends the same requests to two backends and prints where the answers differ."""

import hashlib
import re

from .scenarios import SCENARIOS

ADDITIVE = "additive field"


def neutral(text):
    """What differs by nature (ids, where a backend keeps its sessions) replaced by fixed words."""
    text = re.sub(r"/[\w./-]{0,200}sbx_[0-9a-f]{24,}/workspace", "/workspace", text)
    text = re.sub(r"sbx_[0-9a-f]{24,}", "sbx_ID", text)
    text = re.sub(r"^/bin/bash: ", "bash: ", text, flags=re.M)
    return re.sub(r"srvtoolu_[0-9a-f]{24}", "srvtoolu_ID", text)


def short(value):
    text = repr(value)
    return text if len(text) <= 300 else text[:140] + " … " + text[-140:]


def observe_exec(response):
    if response.status != 200:
        return observe_error(response)
    value = response.json()
    block = value["result_block"]
    content = block["content"]
    seen = {"HTTP status": 200, "fields": sorted(value), "type": block["type"], "tool_use_id": neutral(value["tool_use_id"])}
    for name in ("stdout", "stderr"):
        seen[name] = neutral(content[name])
    seen["return_code"] = content["return_code"]
    seen["files"] = sorted(entry["filename"] for entry in content["content"])
    return seen


def observe_error(response):
    seen = {"HTTP status": response.status}
    if response.status >= 400:
        try:
            seen["detail is a"] = type(response.json()["detail"]).__name__
        except (ValueError, KeyError, TypeError):
            seen["detail is a"] = "missing"
    return seen


def observe_bytes(response):
    seen = observe_error(response)
    if response.status == 200:
        body = bytes(response.body)
        seen["content-type"] = response.headers.get("content-type", "").split(";")[0].lower()
        seen["body"] = body if len(body) < 500 else "%d bytes %s" % (len(body), hashlib.sha256(body).hexdigest()[:12])
    return seen


def observe_json(response):
    seen = observe_error(response)
    if response.status < 300 and response.body:
        value = response.json()
        for name, part in value.items():
            if name == "files":
                part = [{k: v for k, v in entry.items() if k != "modified_at"} for entry in part]
            if name not in ("created_at", "last_activity_at", "session_count"):
                seen[name] = neutral(part) if isinstance(part, str) else part
    return seen


def perform(step, sandbox, session):
    kind, args = step.kind, step.args
    if kind == "code":
        return observe_exec(session.exec({"tool": "code_execution", "input": {"code": args[0]}, **args[1]}))
    if kind == "bash":
        return observe_exec(session.exec({"tool": "bash_code_execution", "input": {"command": args[0]}, **args[1]}))
    if kind == "edit":
        return observe_exec(session.exec({"tool": "text_editor_code_execution", "input": args[0]}))
    if kind == "exec":
        return observe_exec(session.exec(args[0]))
    if kind == "put":
        return observe_json(session.put(*args))
    if kind == "get":
        return observe_bytes(session.get(args[0]))
    if kind == "list":
        return observe_json(session.list(args[0]))
    if kind == "delete":
        return observe_json(session.delete())
    if kind == "info":
        return observe_json(session.info())
    method, target, body, headers = args
    return observe_json(sandbox.request(method, target.replace("{id}", session.id), body, headers))


def again(step, sandbox, session):
    """Performs the step; a second time when the backend had closed the connection behind its last answer."""
    try:
        return perform(step, sandbox, session)
    except ConnectionError:
        return perform(step, sandbox, session)


def differences(reference, ours):
    """(field, reference's value, our value) of each; additive response fields are named as such."""
    for field in sorted(set(reference) | set(ours)):
        a, b = reference.get(field), ours.get(field)
        if field == "fields" and set(a or ()) <= set(b or ()):
            for extra in sorted(set(b) - set(a or ())):
                yield ADDITIVE, None, extra
        elif field not in reference and field not in ("HTTP status", "detail is a") and ours["HTTP status"] == reference["HTTP status"] < 300:
            yield ADDITIVE, None, field
        elif a != b:
            yield field, a, b


def compare(reference, ours, only="", verbose=False):
    """Number of differences that nobody agreed on."""
    counts = {"same": 0, "agreed": 0, "different": 0}
    for name, steps in SCENARIOS:
        if only.lower() not in name.lower():
            continue
        with reference.create() as theirs, ours.create() as mine:
            for number, step in enumerate(steps, 1):
                found = list(differences(again(step, reference, theirs), again(step, ours, mine)))
                judge(counts, "%s, step %d" % (name, number), step, found, verbose)
    print("%(same)d answers alike, %(agreed)d agreed differences, %(different)d DIFFERENT" % counts)
    return counts["different"]


def judge(counts, where, step, found, verbose):
    unexplained = [f for f in found if not step.agreed and f[0] != ADDITIVE]
    outcome = "different" if unexplained else "agreed" if found else "same"
    counts[outcome] += 1
    if not found and not verbose:
        return
    print("%s: %s%s" % (where, step, "  (alike)" if not found else ""))
    for field, a, b in found:
        if field == ADDITIVE:
            print("    agreed: the additive field %r" % b)
        else:
            label = "agreed: " + step.agreed if step.agreed else "DIFFERENT"
            print("    %s\n      %s: reference %s\n      %s: here      %s" % (label, field, short(a), " " * len(field), short(b)))
