"""The official Python SDK against our server, in every revision that it speaks: main.py v1|v2 [http], with
the packages of requirements-v1.txt or -v2.txt. Over stdio, or over HTTP: Streamable HTTP, and HTTP+SSE
for 2024-11-05."""

import importlib
import sys

import tap
from asks import ask_cases
from cases import common_cases
from legacy import legacy_cases
from network import network_cases
from session import OVER_HTTP

sdk = importlib.import_module(f"sdk_{sys.argv[1]}")
for revision in sdk.REVISIONS:
    common_cases(sdk, revision)
    ask_cases(sdk, revision)
    if revision < "2026":
        legacy_cases(sdk, revision)
    else:
        from modern import modern_cases

        modern_cases(sdk, revision)
    if OVER_HTTP:
        network_cases(sdk, revision)
tap.run()
