"""What users and operators see: real processes, real clients, bad days."""

import pytest

pytest.register_assert_rewrite("tests.acceptance.bystander", "tests.acceptance.cluster_processes")
