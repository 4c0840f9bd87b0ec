/* client/rounds.c - questions within a call (2026-07-28 patterns/mrtr): the server's result is
 * input_required; what it wants to know is asked, and the request is sent again with the answers.
 *
 * requestState goes back exactly as it came, with the retry of this call and with nothing else. While
 * questions are open the call has no idle timeout, for a person may be typing; the hard one counts.
 */
#include "client/state.h"

#include "json/parse.h"

enum { MAX_INPUTS = 64 };

void rounds_done(cleat_call *call)
{
	cleat_result_free(call->asked);
	call->asked = NULL;
}

void rounds_pause(cleat_call *call)
{
	call->state = CALL_ASKING;
	call->idle_at = 0;
	call_set_deadline(call);
}

void rounds_resume(cleat_call *call)
{
	call->idle_at = client_now(call->client) + call->idle_ms;
	call_set_deadline(call);
	call_send(call);
}

/* All questions are answered. */
static void retry(cleat_call *call)
{
	int rc = buf_status(&call->answers);

	if (rc == CLEAT_OK) {
		rounds_resume(call);
	} else if (rc == CLEAT_ENOMEM) {
		call_end(call, NULL);
	} else {
		call_fail(call, CLEAT_STEP_ASKED, rc,
			  "the answers for the server are over %d bytes", MAX_OUT);
	}
}

/* Takes the place of what the round before has left. */
static void rounds_start(cleat_call *call, cleat_result *r, const cleat_json *state, bool inputs)
{
	cleat_result_free(call->asked);
	call->asked = r;
	rounds_pause(call);
	call->state_echo = json_str(state);
	call->answered_questions = inputs;
	buf_reset(&call->answers, SIZE_MAX);
}

static COLD void rounds_refuse(cleat_call *call, cleat_result *r, int status, const char *what)
{
	cleat_result_free(r);
	call_fail(call, CLEAT_STEP_PROTOCOL, status, "%s", what);
}

/* What is wrong with such a result; NULL: nothing. */
static const char *complaint(const cleat_json *inputs, const cleat_json *state)
{
	if (!inputs && !state)
		return "the server wants input and does not say which";
	if (inputs && !json_is_object(inputs))
		return "the server's inputRequests are not an object";
	if (inputs && json_check_keys(inputs, NULL) != CLEAT_OK)
		return "a key appears twice in the server's inputRequests";
	if (cleat_json_size(inputs) > MAX_INPUTS)
		return "the server wants answers to more than 64 questions at once";
	if (state && !json_is_string(state))
		return "the server's requestState is not a string";
	return NULL;
}

static void rounds_ask(cleat_call *call, struct str key, const cleat_json *request)
{
	struct str method = json_str(json_member(request, "method"));
	const cleat_json *params = json_member(request, "params");
	int rc;

	if (!method.p || (params && !json_is_object(params))) {
		call_fail(call, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
			  "one of the server's inputRequests is not a request");
		return;
	}
	rc = asked_input(call, key, method, params);
	if (rc == CLEAT_ENOMEM)
		call_end(call, NULL);
}

void rounds_begin(cleat_call *call, cleat_result *r, const cleat_json *value)
{
	const cleat_json *inputs = json_member(value, "inputRequests");
	const cleat_json *state = json_member(value, "requestState");
	const char *wrong = complaint(inputs, state);
	cleat_json_iter it = cleat_json_each(inputs);

	if (wrong) {
		rounds_refuse(call, r, CLEAT_EPROTO, wrong);
		return;
	}
	if (call->rounds >= call->client->opts.max_rounds) {
		rounds_refuse(call, r, CLEAT_ELIMIT,
			      "the server asks again and again (opts.max_rounds)");
		return;
	}
	call->rounds++;
	rounds_start(call, r, state, inputs != NULL);
	call->asking = (unsigned)cleat_json_size(inputs) + 1;
	while (call->state == CALL_ASKING && cleat_json_next(&it))
		rounds_ask(call, json_str(it.key), it.value);
	/* One more than there are questions, so that an answer that comes at once does not send the
	 * retry before the last question was asked. */
	if (call->state == CALL_ASKING && --call->asking == 0)
		retry(call);
}

void rounds_answer(cleat_call *call, struct str key, struct str result)
{
	struct jw w;

	jw_init(&w, &call->answers);
	w.comma = buf_size(&call->answers) > 0;
	jw_keyn(&w, key);
	jw_raw(&w, result);
	if (--call->asking == 0)
		retry(call);
}

void rounds_fail(cleat_call *call, struct str key, const char *why)
{
	if (key.n > 40)
		key.n = 40;
	key.n = utf8_valid_prefix(key);
	call_fail(call, CLEAT_STEP_ASKED, CLEAT_EREMOTE,
		  "the server's question \"%.*s\" could not be answered: %s", (int)key.n, key.p,
		  why);
}
