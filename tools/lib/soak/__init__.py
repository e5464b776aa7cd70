# SPDX-License-Identifier: Apache-2.0
"""What tools/soak does to a server and what it checks."""
