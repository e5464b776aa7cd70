# SPDX-License-Identifier: Apache-2.0
"""Checks responses against src/contract/openapi.json: status, content type, fields and body are as documented.

Stricter than the document in one way: a body's fields must all be named in it, though clients have to ignore others.
"""

import functools
import json
import pathlib
import re

import jsonschema_rs

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "src" / "contract" / "openapi.json"


def closed(node):
    """A copy in which no object of a schema has fields beside those that it names."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: closed(value) for key, value in node.items()}
    if copy.get("additionalProperties") is True and "properties" in copy:
        copy["additionalProperties"] = False
    return copy


class Description:
    def __init__(self, document):
        self.document = closed(document)
        self.paths = [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path) for path in document["paths"]]
        operations = [operation for item in document["paths"].values() for method, operation in item.items() if method != "parameters"]
        # What is refused before the route is looked at, every operation has to name, but 401 those that are for everyone.
        self.general = set.intersection(*(set(operation["responses"]) for operation in operations if operation.get("security") != []))

    def resolve(self, node):
        while "$ref" in node:
            node = functools.reduce(lambda at, key: at[key], node["$ref"].removeprefix("#/").split("/"), self.document)
        return node

    @functools.cache
    def validator(self, path, method, status, content_type):
        """Of the body, or None for one that is not JSON by its documentation."""
        response = self.resolve(self.document["paths"][path][method]["responses"][status])
        schema = {**response["content"][content_type].get("schema", {}), "components": self.document["components"]}
        return jsonschema_rs.Draft202012Validator(schema)

    @functools.cached_property
    def error_validator(self):
        return jsonschema_rs.Draft202012Validator({"$ref": "#/components/schemas/Error", "components": self.document["components"]})

    def path_of(self, target):
        wanted = target.partition("?")[0]
        # An exact path before one with a parameter.
        found = [path for pattern, path in self.paths if pattern.fullmatch(wanted)]
        return min(found, key=lambda path: path.count("{"), default=None)

    def check(self, method, target, response):
        """Throws AssertionError with what is not documented."""
        method = "get" if method == "HEAD" else method.lower()
        path = self.path_of(target)
        item = self.document["paths"].get(path, {})
        status = str(response.status)
        if method not in item:
            assert status in self.general | {"405" if item else "404"}, "status %s of %s" % (status, "this method" if item else "a path that is not documented")
            if status == "405":
                assert response.headers.get("allow"), "405 without Allow"
            self.check_error(response)
            return
        assert status in item[method]["responses"], "status %s is not documented" % status
        documented = self.resolve(item[method]["responses"][status])
        for name, field in documented.get("headers", {}).items():
            self.check_field(name, self.resolve(field), response.headers.get(name.lower()))
        self.check_body(path, method, status, documented.get("content", {}), response)

    def check_field(self, name, field, value):
        if value is None:
            assert not field.get("required"), "the field %s is missing" % name
            return
        schema = self.resolve(field["schema"])
        self.judge(jsonschema_rs.Draft202012Validator(schema), int(value) if schema.get("type") == "integer" else value, "field " + name)

    def check_body(self, path, method, status, documented, response):
        content_type = response.headers.get("content-type", "").partition(";")[0].strip()
        if not documented:
            assert not content_type and not response.body, "a body that is not documented"
            return
        key = next((key for key in (content_type, content_type.partition("/")[0] + "/*", "*/*") if key in documented), None)
        assert key, "content type %r is not documented" % content_type
        if key == "application/json" and response.body:
            self.judge(self.validator(path, method, status, key), json.loads(bytes(response.body)), "body")

    def check_error(self, response):
        assert response.headers.get("content-type") == "application/json", "content type %r" % response.headers.get("content-type")
        if response.body:
            self.judge(self.error_validator, json.loads(bytes(response.body)), "body")

    @staticmethod
    def judge(validator, value, what):
        errors = ["%s: %s" % ("/".join(map(str, error.instance_path)), error.message[:300]) for error in validator.iter_errors(value)]
        assert not errors, "the %s is not as documented: %s" % (what, errors)


@functools.cache
def rookery():
    return Description(json.loads(DOCUMENT.read_text()))
