/* cpp.cpp - <cleat/cleat.hpp> at work: a server and a client in one process. Compiled by test_cpp.sh with
 * every compiler, with exceptions and without. */
#include <cleat/cleat.hpp>

#include <cstdio>
#include <stdexcept>

enum class unit : unsigned char { celsius, fahrenheit = 200 };
struct point {
	double x;
	float y;
};
struct query {
	const char *city;
	int days;
	bool has_days;
	char code[4];
	unit scale;
	point at;
	const double *xs;
	size_t n_xs;
	const unit *us;
	size_t n_us;
	const point *path;
	size_t n_path;
	const cleat_json *any;
};
static constexpr cleat_enum units[] = { cleat::named("C", unit::celsius),
					cleat::named("F", unit::fahrenheit), CLEAT_ENUM_END };
static constexpr cleat::field<point> points[] = {
	CLEAT_FIELD(point, x, nullptr),
	CLEAT_FIELD(point, y, nullptr).fallback("2"),
	CLEAT_FIELD_END,
};
static constexpr cleat::field<query> fields[] = {
	CLEAT_FIELD(query, city, "City").range(1, 8).format("city").title("Town"),
	CLEAT_FIELD(query, days, "Days").fallback("1").present(offsetof(query, has_days)),
	CLEAT_FIELD(query, code, "Country").choices("NO|SE").optional(),
	CLEAT_ENUM(query, scale, units, "Scale").fallback("\"C\""),
	CLEAT_RECORD(query, at, points, "Where").optional(),
	CLEAT_ARRAY(query, xs, n_xs, nullptr).at_most(2).optional(),
	CLEAT_ENUM_ARRAY(query, us, n_us, units, nullptr).optional(),
	CLEAT_RECORD_ARRAY(query, path, n_path, points, nullptr).optional(),
	CLEAT_FIELD(query, any, nullptr).optional(),
	CLEAT_FIELD_END,
};

static int number, failed;

static void same(std::string_view found, std::string_view wanted, const char *what)
{
	bool ok = found == wanted;

	std::printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
	if (!ok)
		std::printf("# found:  %.*s\n# wanted: %.*s\n", static_cast<int>(found.size()),
			    found.data(), static_cast<int>(wanted.size()), wanted.data());
	failed |= !ok;
}

/* Counts how many of it there are: handlers are kept once, and freed. */
struct counted {
	explicit counted(int *n) : n_(n)
	{
		++*n_;
	}
	counted(const counted &o) : n_(o.n_)
	{
		++*n_;
	}
	counted &operator=(const counted &) = delete;
	~counted()
	{
		--*n_;
	}
	int *n_;
};

static void add_tools(cleat::server &s, const counted &c)
{
	s.tool("greet(name: string)", std::string("Says hello"), [c](cleat::request &r) {
		return "Hello, " + std::string(r.str("name"));
	});
	s.tool("forecast", "Weather", fields, [](cleat::request &r, const query &q) {
		return r.reply({ { "city", q.city },
				 { "days", q.days },
				 { "said", q.has_days },
				 { "code", std::string(q.code) },
				 { "f", q.scale == unit::fahrenheit },
				 { "y", q.at.y },
				 { "n", q.n_xs + q.n_us + q.n_path },
				 { "any", cleat::json(q.any) },
				 { "none", nullptr } });
	});
	s.tool("fails()", "Fails", [](cleat::request &r) { return r.error("as it should"); });
	s.tool("silent()", "Replies by hand", [](cleat::request &r) { (void)r.text(""); });
	s.resource("city://{name}", "A city", [](cleat::request &r) { return r.var("name"); });
	s.prompt("hi(name: string)", "Says hi", [](cleat::request &r) {
		return cleat_reply_message(r, "user", "hi");
	});
#ifdef __cpp_exceptions
	s.tool("throws()", "Throws", [](cleat::request &) { throw std::runtime_error("oh no"); });
	s.tool("odd()", "Throws", [](cleat::request &) -> int { throw 5; });
	s.tool("full()", "Throws", [](cleat::request &) -> int { throw std::bad_alloc(); });
#endif
}

static void calls(cleat::client &c)
{
	cleat::result r = c.call("forecast", { { "city", "Oslo" },
					       { "code", std::string_view("NO") },
					       { "scale", "F" },
					       { "at", cleat::object({ { "x", 1 } }).root() },
					       { "any", true } });
	std::string keys;

	same(c.call("greet", { { "name", "Ann" } }).text(), "Hello, Ann", "a text is the reply");
	same(r.data().print(),
	     "{\"city\":\"Oslo\",\"days\":1,\"said\":false,\"code\":\"NO\",\"f\":true,\"y\":2,"
	     "\"n\":0,\"any\":true,\"none\":null}",
	     "a struct comes in, members go out");
	for (auto [key, value] : r.data())
		keys += std::string(key) + (value ? " " : "");
	same(keys, "city days said code f y n any none ", "members can be walked over");
	same(c.call("forecast", { { "city", "Oslo" }, { "code", "DK" } }).text(),
	     "Invalid arguments for tool forecast:\ncode: expected one of \"NO\", \"SE\", got \"DK\"",
	     "what does not fit is refused");
	same(c.call("fails").text(), "as it should", "a tool fails");
	same(c.read("city://Oslo").text(), "Oslo", "a resource with a variable");
	same(c.list(CLEAT_LIST_PROMPTS).items()[0]["name"].str(), "hi", "a prompt");
}

static void ends(cleat::client &c)
{
#ifdef __cpp_exceptions
	same(c.call("throws").text(), "oh no", "an exception is the tool's error");
	same(c.call("odd").text(), "the handler threw what is no std::exception", "any exception");
	same(std::strstr(c.call("full").why().message, "out of memory") ? "no" : "some", "no",
	     "memory that is short");
	try {
		c.call("nothing").check();
		same("nothing", "thrown", "an error is thrown");
	} catch (const cleat::error &e) {
		same(e.what(), "tools/call nothing: Unknown tool: nothing", "an error is thrown");
	}
	try {
		cleat::doc::parse("{");
		same("nothing", "thrown", "a wrong document is thrown");
	} catch (const cleat::error &e) {
		same(cleat_strstatus(e.status()), cleat_strstatus(CLEAT_EPROTO),
		     "a wrong document is thrown");
	}
#else
	same(cleat_strstatus(c.call("nothing").check()), cleat_strstatus(CLEAT_EREMOTE),
	     "an error is a status");
	same(cleat::doc::parse("{") ? "made" : "empty", "empty", "a wrong document is empty");
#endif
	cleat_error err = {};

	same(cleat::doc::parse("{", &err) || !err.status ? "made" : "empty", "empty",
	     "who asks for the error gets it");
}

static void later(cleat::client &c)
{
	std::string said;

	c.start("greet", cleat::object({ { "name", "Bo" } }).root(), [&said](cleat::result r) {
		said = r.text();
	});
	while (said.empty())
		cleat_loop_step(cleat_client_loop(c), -1);
	same(said, "Hello, Bo", "a call that does not wait");
}

int main()
{
	cleat::builder b;
	int kept = 0;

	{
		cleat::server s("test", "1");
		add_tools(s, counted(&kept));
		same(kept == 1 ? "one" : "more", "one", "a handler is kept once");
		cleat::client c = cleat::client::inproc(s);
		calls(c);
		ends(c);
		later(c);
	}
	same(kept == 0 ? "none" : "some", "none", "and freed");
	b.array().add(1).add("x").add(-0.5).object().add("k", false).end().end();
	same(b.finish().root().print(), "[1,\"x\",-0.5,{\"k\":false}]", "a document step by step");
	std::printf("1..%d\n", number);
	return failed;
}
