# SPDX-License-Identifier: Apache-2.0
"""GET /openapi.json: valid, with an example of everything, and the server's answers are as it says."""

import json
import unittest

import jsonschema_rs
from harness import ServerTestCase
from openapi_check import DOCUMENT, Description, rookery
from openapi_spec_validator import OpenAPIV31SpecValidator
from sandboxclient.connection import Response

METHODS = ("get", "put", "post", "delete", "patch")


def media_types(document):
    """(where, media type object) of every request and response body."""
    description = Description(document)
    for path, item in document["paths"].items():
        for method in set(METHODS) & set(item):
            operation = item[method]
            bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
            for name, body in bodies.items():
                for content_type, media in description.resolve(body).get("content", {}).items():
                    yield "%s %s %s %s" % (method, path, name, content_type), media


def examples(media):
    return [media["example"]] if "example" in media else [example["value"] for example in media.get("examples", {}).values()]


class TheDocument(unittest.TestCase):
    document = json.loads(DOCUMENT.read_text())

    def test_is_valid_openapi_3_1(self):
        self.assertTrue(self.document["openapi"].startswith("3.1."))
        self.assertEqual([error.message for error in OpenAPIV31SpecValidator(self.document).iter_errors()], [])
        broken = {**self.document, "paths": {"/health": {"get": {"responses": {"200": {}}}}}}
        self.assertNotEqual(list(OpenAPIV31SpecValidator(broken).iter_errors()), [])

    def test_every_json_body_has_examples_that_match_its_schema(self):
        checked = 0
        for where, media in media_types(self.document):
            if not where.endswith("application/json"):
                continue
            with self.subTest(where):
                validator = jsonschema_rs.Draft202012Validator({**media["schema"], "components": self.document["components"]})
                self.assertTrue(examples(media))
                for example in examples(media):
                    self.assertEqual([error.message for error in validator.iter_errors(example)], [])
                    checked += 1
        self.assertGreater(checked, 100)

    def test_the_examples_of_schemas_match_them_with_no_field_beside(self):
        for name, schema in rookery().document["components"]["schemas"].items():
            validator = jsonschema_rs.Draft202012Validator({**schema, "components": rookery().document["components"]})
            for example in schema.get("examples", []):
                with self.subTest(name):
                    self.assertEqual([error.message for error in validator.iter_errors(example)], [])

    def test_every_operation_says_what_it_is(self):
        seen = set()
        for path, item in self.document["paths"].items():
            for method in set(METHODS) & set(item):
                operation = item[method]
                with self.subTest(path=path, method=method):
                    self.assertTrue(operation["summary"] and operation["tags"])
                    self.assertNotIn(operation["operationId"], seen)
                    seen.add(operation["operationId"])
                    # Who may ask is decided for all routes but two.
                    self.assertEqual("401" in operation["responses"], path not in ("/health", "/ready"))
                    self.assertEqual(operation.get("security") == [], path in ("/health", "/ready"))
                    for response in operation["responses"].values():
                        self.assertTrue(rookery().resolve(response)["description"])


class TheCheckOfResponses(unittest.TestCase):
    """The check that every response of the other tests goes through finds what it is there to find."""

    def judge(self, method, target, status, body, **fields):
        headers = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in fields.items()}}
        rookery().check(method, target, Response(status, headers, json.dumps(body).encode(), False, b""))

    def test_what_is_documented_passes(self):
        self.judge("GET", "/health", 200, {"status": "ok", "session_count": 0, "max_sessions": 1})
        self.judge("POST", "/sessions", 503, {"detail": "at capacity"}, retry_after="1")
        self.judge("PUT", "/health", 405, {"detail": "Method Not Allowed"}, allow="GET, HEAD")
        self.judge("GET", "/nowhere", 404, {"detail": "Not Found"})

    def test_what_is_not_documented_does_not(self):
        health = {"status": "ok", "session_count": 0, "max_sessions": 1}
        wrong = {
            "another status": ("GET", "/health", 202, health),
            "another content type": ("GET", "/health", 200, health, "text/plain"),
            "a field that is missing": ("GET", "/health", 200, {"status": "ok", "session_count": 0}),
            "a field that nobody named": ("GET", "/health", 200, {**health, "colour": "red"}),
            "a value of another type": ("GET", "/health", 200, {**health, "max_sessions": "1"}),
            "no Retry-After": ("POST", "/sessions", 503, {"detail": "at capacity"}),
            "405 without Allow": ("PUT", "/health", 405, {"detail": "Method Not Allowed"}),
            "a body after 204": ("DELETE", "/sessions/x", 204, {}),
            "200 from nowhere": ("GET", "/nowhere", 200, {}),
        }
        for what, (method, target, status, body, *content_type) in wrong.items():
            with self.subTest(what), self.assertRaises(AssertionError):
                self.judge(method, target, status, body, **({"content_type": content_type[0]} if content_type else {}))


class TheServer(ServerTestCase):
    def test_hands_out_the_document(self):
        response = self.sandbox.request("GET", "/openapi.json")
        self.assertEqual(response.headers["content-type"], "application/json")
        self.assertEqual(response.json(), json.loads(DOCUMENT.read_text()))

    def test_serves_every_path_and_no_other_method_of_it(self):
        for path, item in rookery().document["paths"].items():
            target = path.replace("{session_id}", self.session.id)
            allowed = {"HEAD"} if "get" in item else set()
            allowed |= {method.upper() for method in METHODS if method in item}
            response = self.sandbox.request("PATCH", target)
            with self.subTest(path):
                self.assertEqual(response.status, 405)
                self.assertEqual(set(response.headers["allow"].split(", ")), allowed)
