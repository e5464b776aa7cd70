# SPDX-License-Identifier: Apache-2.0
"""The manifests for Kubernetes against its own schemas."""

import os
import shutil
import subprocess
import tempfile
import unittest

import kubernetes_schemas
import ways

MANIFESTS = ways.SOURCE / "container" / "kubernetes" / "rookery.yaml"
KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.6.1"


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="rookery-kubeconform-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        kubernetes_schemas.write(cls.directory)

    def kubeconform(self, text):
        where = os.path.join(self.directory, kubernetes_schemas.TEMPLATE)
        return subprocess.run(["go", "run", KUBECONFORM, "-strict", "-summary", "-schema-location", where], input=text, capture_output=True,
                              text=True, timeout=300, cwd="/")

    def test_they_meet_the_schemas_of_kubernetes(self):
        done = self.kubeconform(MANIFESTS.read_text())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Valid: 4, Invalid: 0, Errors: 0, Skipped: 0", done.stdout)

    def test_a_misspelt_field_would_be_found(self):
        done = self.kubeconform(MANIFESTS.read_text().replace("readOnlyRootFilesystem", "readOnlyRootFilesystm"))
        self.assertIn("Invalid: 1", done.stdout)
