# SPDX-License-Identifier: Apache-2.0
"""The response shapes of the contract: required fields, types and constants; unknown fields are ignored."""

import time

from .registry import equal, expect

BLOCK_TYPES = {
    "code_execution": "code_execution_tool_result",
    "bash_code_execution": "bash_code_execution_tool_result",
    "text_editor_code_execution": "text_editor_code_execution_tool_result",
}


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def json_body(response):
    kind = response.headers.get("content-type", "")
    expect(kind.split(";")[0].strip() == "application/json", "content type is", repr(kind))
    return response.json()


def handle(response):
    value = json_body(response)
    expect(isinstance(value.get("session_id"), str) and value["session_id"], "session_id:", value)
    for name in ("idle_timeout_seconds", "max_lifetime_seconds"):
        expect(is_int(value.get(name)) and value[name] >= 1, name, "in", value)
    for name in ("created_at", "last_activity_at"):
        expect(is_number(value.get(name)) and abs(value[name] - time.time()) < 86400, name, "in", value)
    return value


def exec_response(response, tool):
    equal(response.status, 200, "status")
    value = json_body(response)
    expect(isinstance(value.get("tool_use_id"), str) and value["tool_use_id"], "tool_use_id in", value)
    elapsed = value.get("execution_time_ms")
    expect(elapsed is None or is_int(elapsed) and elapsed >= 0, "execution_time_ms in", value)
    block = value["result_block"]
    equal(block["type"], BLOCK_TYPES[tool], "result block type")
    equal(block["tool_use_id"], value["tool_use_id"], "tool_use_id of the block")
    content = block["content"]
    expect(isinstance(content, dict), "content is one object, not", content)
    equal(content.get("type", "code_execution_result"), "code_execution_result", "content type")
    expect("error_code" not in content, "an error variant:", content)
    for name in ("stdout", "stderr"):
        expect(isinstance(content.get(name, ""), (str, type(None))), name, "in", content)
    code = content.get("return_code", 0)
    expect(code is None or is_int(code), "return_code in", content)
    for entry in content.get("content") or []:
        expect(isinstance(entry.get("file_id"), str) and entry["file_id"], "file_id in", entry)
        expect(isinstance(entry.get("filename"), str) and entry["filename"], "filename in", entry)
    return value


def file_list(response):
    equal(response.status, 200, "status")
    entries = json_body(response)["files"]
    expect(isinstance(entries, list), "files is no list")
    for entry in entries:
        expect(isinstance(entry.get("path"), str) and entry["path"], "path in", entry)
        expect(is_int(entry.get("size_bytes")) and entry["size_bytes"] >= 0, "size_bytes in", entry)
        expect(isinstance(entry.get("mime_type"), (str, type(None))), "mime_type in", entry)
        expect(is_number(entry.get("modified_at", 0)), "modified_at in", entry)
    return entries


def upload(response, path, size):
    equal(response.status, 201, "status")
    value = json_body(response)
    equal((value["path"], value["size_bytes"]), (path, size), "stored path and size")


def error(response):
    """An error body names the problem under `detail`."""
    value = json_body(response)
    expect(isinstance(value, dict) and "detail" in value, "error body", value)
    return value["detail"]
