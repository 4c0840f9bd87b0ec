"""Runs cases one after the other and speaks TAP on standard output.

Every case has a deadline, so that a server that never answers is a failure with a name. A case is
told whom to talk to (see session.py); what it opens it closes itself, with `async with`.
"""

import sys
import traceback

import anyio

CASE_SECONDS = 30

_cases = []


def case(name, run):
    """Registers a case: `await run()` fails by raising."""
    _cases.append((name, run))


def cases_of(sdk, revision):
    """What a file of cases begins with: it(name, since=REVISION, when=BOOL) registers one, on(..., **options)
    one that is given a session, open_(**options) is a session of this revision."""

    def it(name, since="", when=True):
        def register(run):
            if when and revision >= since:
                case(f"{sdk.NAME}, {revision}: {name}", run)

        return register

    def on(name, since="", when=True, **options):
        def register(run):
            async def run_on_session():
                async with open_(**options) as session:
                    await run(session)

            it(name, since, when)(run_on_session)

        return register

    def open_(**options):
        return sdk.open_session(revision, **options)

    return it, on, open_


async def within(awaitable_fn, what, seconds=10):
    """What the function's coroutine gives, or an error with a name when it takes too long."""
    with anyio.move_on_after(seconds):
        return await awaitable_fn()
    raise AssertionError(f"{what} took longer than {seconds} s")


def _comment(text):
    for line in text.rstrip().split("\n"):
        print(f"# {line}")


async def _run_all():
    failed = 0
    print(f"1..{len(_cases)}")
    for number, (name, run) in enumerate(_cases, 1):
        problem = None
        try:
            with anyio.fail_after(CASE_SECONDS):
                await run()
        except Exception:  # whatever it is, it is this case's
            problem = traceback.format_exc()
            failed += 1
        print(f"{'not ok' if problem else 'ok'} {number} - {name}")
        if problem:
            _comment(problem)
        sys.stdout.flush()
    return failed


def run():
    """Runs what case() was given; ends the program."""
    sys.exit(1 if anyio.run(_run_all) else 0)
