/* client/message.c - messages out: requests with the _meta that the era wants, and notifications.
 *
 * Written straight into one buffer that is kept between calls; nothing is built first. Not here: when
 * something is sent, and what becomes of it (call.c).
 */
#include "client/state.h"

#include "protocol/era.h"
#include "json/parse.h"

enum { KEEP_OUT = 64 << 10 };

static const struct str absent;

struct buf message_take(cleat_client *c)
{
	struct buf b = c->out;

	buf_init(&c->out, &c->mem, MAX_OUT);
	return b;
}

void message_give(cleat_client *c, struct buf *b)
{
	buf_done(&c->out);
	c->out = *b;
	buf_reset(&c->out, KEEP_OUT);
}

/* ---- what we are ---------------------------------------------------------------------------- */

void message_client_info(const cleat_client *c, struct build *b)
{
	build_obj(b);
	build_kv_str(b, "name", c->opts.name);
	build_kv_str(b, "title", c->opts.title);
	build_kv_str(b, "version", c->opts.version);
	build_end(b);
}

/* What there are handlers for, in the words of that revision. */
void message_capabilities(const cleat_client *c, struct build *b, enum revision rev)
{
	unsigned features = revision_features(rev);
	const cleat_client_options *o = &c->opts;
	bool modes = features & FEAT_ELICITATION_MODES;

	build_obj(b);
	if (c->roots) {
		build_keyz(b, "roots");
		build_format(b, revision_is_modern(rev) ? "{}" : "{listChanged: true}");
	}
	if (o->on_sampling) {
		build_keyz(b, "sampling");
		build_format(b, o->sampling_tools && features & FEAT_SAMPLING_TOOLS ? "{tools: {}}"
										    : "{}");
	}
	if (features & FEAT_ELICITATION && (o->on_form || (modes && o->on_url))) {
		build_keyz(b, "elicitation");
		build_format(b, !modes        ? "{}"
				: !o->on_url  ? "{form: {}}"
				: !o->on_form ? "{url: {}}"
					      : "{form: {}, url: {}}");
	}
	build_end(b);
}

static void put_members(struct jw *w, const cleat_json *object)
{
	cleat_json_iter it = cleat_json_each(object);

	while (cleat_json_next(&it)) {
		jw_key_of(w, it.key);
		jw_value(w, it.value);
	}
}

/* 2026-07-28 basic/index, per-request protocol fields. What was there stays when there is no memory for more. */
int message_set_meta(cleat_client *c)
{
	struct buf fresh = BUF_INIT(&c->mem, c->meta.max);
	const cleat_json *all = NULL;
	struct arena ar;
	struct build b;
	struct jw w;
	int rc;

	arena_init(&ar, &c->mem, MAX_OUT);
	build_init(&b, &ar);
	build_obj(&b);
	build_kv_str(&b, META_PROTOCOL_VERSION, revision_name(REV_MODERN));
	build_keyz(&b, META_CLIENT_INFO);
	message_client_info(c, &b);
	build_keyz(&b, META_CLIENT_CAPS);
	message_capabilities(c, &b, REV_MODERN);
	build_end(&b);
	rc = build_finish(&b, &all, NULL);
	jw_init(&w, &fresh);
	put_members(&w, all);
	arena_done(&ar);
	rc = rc != CLEAT_OK ? rc : buf_status(&fresh);
	buf_done(rc ? &fresh : &c->meta);
	if (!rc)
		c->meta = fresh;
	return rc;
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool ours(struct str key)
{
	static const char *const keys[] = { "progressToken", META_PROTOCOL_VERSION,
					    META_CLIENT_INFO, META_CLIENT_CAPS, META_LOG_LEVEL };

	for (size_t i = 0; i < CLEAT_COUNT(keys); i++)
		if (str_eqz(key, keys[i]))
			return true;
	return false;
}

/* The program's own members, without those that `other` has. */
static void put_own_meta(struct jw *w, const cleat_json *meta, const cleat_json *other)
{
	cleat_json_iter it = cleat_json_each(meta);

	if (!json_is_object(meta))
		return;
	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		if (ours(key) || json_get(other, key))
			continue;
		jw_key_of(w, it.key);
		jw_value(w, it.value);
	}
}

static void put_meta(struct jw *w, const cleat_call *call)
{
	const cleat_client *c = call->client;
	const char *level = call->opts.log_level ? call->opts.log_level : c->opts.log_level;

	jw_key(w, "_meta");
	jw_obj(w);
	if (!call->done)
		jw_kv_int(w, "progressToken", call->node.number);
	if (c->modern) {
		jw_splice(w, buf_str(&c->meta), true);
		jw_kv_str(w, META_LOG_LEVEL, call->done ? NULL : level);
	}
	put_own_meta(w, call->meta, NULL);
	put_own_meta(w, json_member(call->params, "_meta"), call->meta);
	jw_obj_end(w);
}

/* Members that the role writes itself, where it has them. */
static bool replaced(const cleat_call *call, struct str key)
{
	if (str_eqz(key, "_meta"))
		return true;
	if (call->rounds)
		return str_eqz(key, "inputResponses") || str_eqz(key, "requestState");
	return call->pages && str_eqz(key, "cursor");
}

static void put_params(struct jw *w, const cleat_call *call)
{
	cleat_json_iter it = cleat_json_each(call->params);

	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		if (replaced(call, key))
			continue;
		jw_key_of(w, it.key);
		jw_value(w, it.value);
	}
}

/* 2026-07-28 patterns/mrtr: what the server asked for, and its state exactly as it came. */
static void put_answers(struct jw *w, const cleat_call *call)
{
	if (call->answered_questions) {
		jw_key(w, "inputResponses");
		jw_obj(w);
		if (buf_size(&call->answers))
			jw_splice(w, buf_str(&call->answers), true);
		jw_obj_end(w);
	}
	jw_kv_strn(w, "requestState", call->state_echo);
}

int message_request(cleat_call *call, struct buf *out)
{
	const cleat_client *c = call->client;
	struct jw w;

	jw_init(&w, out);
	rpc_begin_request(&w, call->node.number, call->method.p);
	/* initialize and the like need no _meta in a session. */
	if (call->params || c->modern || !call->done) {
		rpc_params(&w);
		jw_obj(&w);
		put_params(&w, call);
		if (call->rounds)
			put_answers(&w, call);
		if (call->pages)
			pages_cursor(call, &w);
		if (c->modern || !call->done)
			put_meta(&w, call);
		jw_obj_end(&w);
	}
	rpc_end(&w);
	return buf_status(out);
}

/* ---- sending -------------------------------------------------------------------------------- */

int message_post(cleat_client *c, const struct link_message *m)
{
	int rc;

	if (!c->link)
		return CLEAT_ECLOSED;
	rc = c->link->ops->send(c->link, m);
	if (rc == CLEAT_OK && c->opts.on_message)
		c->opts.on_message(c, true, m->text.p, m->text.n, c->opts.userdata);
	return rc;
}

/* The beginning of a notification in *out, taken; and its end. */
static void notice_begin(cleat_client *c, struct buf *out, struct jw *w, struct str method)
{
	*out = message_take(c);
	jw_init(w, out);
	jw_splice(w, STR_LIT("{\"jsonrpc\":\"2.0\",\"method\":"), false);
	jw_str(w, method);
}

static int notice_end(cleat_client *c, struct buf *out, struct jw *w, struct str method, void *tag)
{
	int rc;

	rpc_end(w);
	rc = buf_status(out);
	if (rc == CLEAT_OK)
		rc = message_post(c, &(struct link_message){ .text = buf_str(out),
							     .kind = LINK_NOTICE,
							     .tag = tag,
							     .rev = c->rev,
							     .modern = c->modern,
							     .method = method,
							     .name = absent });
	message_give(c, out);
	return rc;
}

int message_notice(cleat_client *c, struct str method, const cleat_json *params, void *tag)
{
	struct buf out;
	struct jw w;

	notice_begin(c, &out, &w, method);
	if (params) {
		rpc_params(&w);
		jw_value(&w, params);
	}
	return notice_end(c, &out, &w, method, tag);
}

void message_cancel(cleat_client *c, int64_t id, const char *reason)
{
	const struct str method = STR_LIT("notifications/cancelled");
	struct buf out;
	struct jw w;

	notice_begin(c, &out, &w, method);
	rpc_params(&w);
	jw_obj(&w);
	jw_kv_int(&w, "requestId", id);
	jw_kv_str(&w, "reason", reason);
	jw_obj_end(&w);
	notice_end(c, &out, &w, method, NULL);
}
