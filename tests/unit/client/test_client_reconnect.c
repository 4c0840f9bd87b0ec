/* test_client_reconnect.c - servers that are lost again and again; see tests/wire/transcripts/client/reconnect.txt, too. */
#include "test.h"
#include "unit/client/client_rig.h"

#define CALL_T "tools/call", "{\"name\":\"t\"}"
#define OK     "\"result\":{\"content\":[]}"

/* A server that knows no session is given up, but not for ever: a later call begins another one. */
RIG_TEST(a_server_that_lost_its_sessions_may_recover)
{
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");

	lost.session_lost = true;
	rig_legacy(rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	for (int i = 0; i < 8; i++) {
		size_t done = rig->n_done, sent = rig->n_sent;

		rig_call(rig, CALL_T);
		for (int k = 0; rig->n_done == done && k < 10; k++) {
			struct rig_sent *s = rig_request(rig);

			if (s->initialize) {
				rig_answer(rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
				rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
			} else if (i < 6) {
				rig->ev.failed(rig->ev.ctx, s->tag, &lost);
			} else { /* now it keeps them */
				rig_answer(rig, OK);
			}
		}
		assert_int_equal(rig->n_done, done + 1);
		assert_int_equal(cleat_result_status(rig_result(rig)),
				 i < 6 ? CLEAT_EIO : CLEAT_OK);
		assert_true(rig->n_sent - sent < 8); /* sessions are not begun for ever */
	}
}

MODERN_TEST(remarks_and_stderr_are_passed_on)
{
	rig->ev.note(rig->ev.ctx, CLEAT_LOG_WARNING, "100 bad lines");
	rig->ev.err_line(rig->ev.ctx, "for nobody");
	assert_has(rig->notes, "100 bad lines");
}
