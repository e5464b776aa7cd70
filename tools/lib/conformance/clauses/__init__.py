# SPDX-License-Identifier: Apache-2.0
"""One module an area of the contract; importing it registers its clauses."""
