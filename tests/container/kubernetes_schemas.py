# SPDX-License-Identifier: Apache-2.0
"""Schemas for kubeconform, made from the OpenAPI description in Kubernetes' own Go module: that needs Go's proxy and nothing else."""

import json
import pathlib
import subprocess

TEMPLATE = "{{.ResourceKind}}{{.KindSuffix}}.json"
KINDS = ("Service", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy")
KUBERNETES = "k8s.io/kubernetes@v1.32.0"
# Types of the description whose JSON is not what its "type" says.
AS_WRITTEN = {"io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"]},
              "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]}}


def download():
    done = subprocess.run(["go", "mod", "download", "-json", KUBERNETES], capture_output=True, text=True, timeout=300, check=True, cwd="/")
    return pathlib.Path(json.loads(done.stdout)["Dir"]) / "api" / "openapi-spec" / "swagger.json"


def strict(definition):
    """Unknown fields are errors."""
    if "properties" in definition and "additionalProperties" not in definition:
        return {**definition, "additionalProperties": False}
    return definition


def write(directory):
    """One file a kind, named by TEMPLATE."""
    definitions = json.loads(download().read_text())["definitions"]
    shared = {name: AS_WRITTEN.get(name) or strict(definition) for name, definition in definitions.items()}
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            schema = {"$ref": "#/definitions/" + name, "definitions": shared}
            if kind["kind"] in KINDS:
                parts = [kind["kind"].lower(), kind["group"].split(".")[0], kind["version"]]
                (pathlib.Path(directory) / ("-".join(filter(None, parts)) + ".json")).write_text(json.dumps(schema))
