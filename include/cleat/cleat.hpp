/* cleat/cleat.hpp - Cleat for C++17: handles that free themselves, lambdas as handlers, fields of structs,
 * std::string_view in and out.
 *
 *	cleat::server s("adder", "1.0.0");
 *	s.tool("add(a: number, b: number)", "Add two numbers", [](cleat::request &r) {
 *		return std::to_string(r.num("a") + r.num("b"));
 *	});
 *	return s.main(argc, argv);
 *
 * A thin layer over the C headers, which say everything about what happens; nothing is hidden. Every class
 * converts to the pointer that it stands for, so every function of C takes it: cleat_reply_image(r, ...).
 * All of it is compiled into the program; the library has no C++ in it. What it costs is one allocation for
 * each handler.
 *
 * Errors. With exceptions, what fails is thrown as cleat::error; functions whose C counterpart gives a status
 * then give CLEAT_OK or a positive one. Without (-fno-exceptions), the same functions give the status and
 * handles are empty. Functions with a last parameter `cleat_error *err` never throw when it is given. An
 * exception that leaves a handler becomes a tool's error with the text of what(); it never passes through
 * the library. One that leaves any other callback ends the program.
 *
 * Lifetime: texts and values that are given out are borrowed, as in C. Threads: as in C.
 */
#ifndef CLEAT_CLEAT_HPP
#define CLEAT_CLEAT_HPP

#include <cleat/cleat.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cleat
{

/* ---- errors --------------------------------------------------------------------------------- */

/* What went wrong: a cleat_error. */
class error : public std::exception {
public:
	explicit error(const cleat_error &e) noexcept : e_(e)
	{
	}
	/* In a handler: throw cleat::error("no such city"). */
	explicit error(std::string_view text, int status = CLEAT_EINVAL) noexcept : e_()
	{
		size_t n = text.size() < sizeof e_.message ? text.size() : sizeof e_.message - 1;

		e_.status = status;
		std::memcpy(e_.message, text.data(), n);
	}
	const char *what() const noexcept override
	{
		return e_.message[0] ? e_.message : cleat_strstatus(e_.status);
	}
	int status() const noexcept
	{
		return e_.status;
	}
	/* Of JSON-RPC, where the failure has one. */
	int rpc_code() const noexcept
	{
		return e_.rpc_code;
	}

private:
	cleat_error e_;
};

namespace detail
{

/* A failed status is thrown, where that can be done; otherwise it is given back. */
inline int check(int status, const cleat_error &why)
{
#ifdef __cpp_exceptions
	if (status < 0)
		throw error(why);
#else
	(void)why;
#endif
	return status;
}

/* For functions that give NULL: `mine` is theirs, `err` the caller's. */
template <class T> T *check(T *made, cleat_error *err, const cleat_error &mine)
{
	if (!made && !err)
		check(mine.status ? mine.status : CLEAT_ENOMEM, mine);
	return made;
}

template <class T, void (*Free)(T *)> struct deleter {
	void operator()(T *p) const noexcept
	{
		Free(p);
	}
};

} // namespace detail

/* A std::unique_ptr that frees as C does. */
template <class T, void (*Free)(T *)> using handle = std::unique_ptr<T, detail::deleter<T, Free>>;

using loop = handle<cleat_loop, cleat_loop_free>;
using schema = handle<cleat_schema, cleat_schema_free>;
using schema_set = handle<cleat_schema_set, cleat_schema_set_free>;
using watch = handle<cleat_watch, cleat_watch_free>;
using wire = handle<cleat_wire, cleat_wire_free>;

/* A text as a parameter, terminated as C wants it: of a literal and a std::string the one that there is, of
 * a std::string_view a copy. Parameters only: it borrows. */
class zstr {
public:
	zstr(const char *s) noexcept : p_(s)
	{
	}
	zstr(const std::string &s) noexcept : p_(s.c_str())
	{
	}
	zstr(std::string_view s) : copy_(s), p_(copy_.c_str())
	{
	}
	zstr(const zstr &) = delete;
	zstr &operator=(const zstr &) = delete;
	operator const char *() const noexcept
	{
		return p_;
	}

private:
	std::string copy_;
	const char *p_;
};

/* ---- JSON: reading --------------------------------------------------------------------------- */

/* One value, borrowed from its document, request or result. Empty where there is none; lookups chain. */
class json {
public:
	json(const cleat_json *v = nullptr) noexcept : v_(v)
	{
	}
	operator const cleat_json *() const noexcept
	{
		return v_;
	}
	enum cleat_json_type type() const noexcept
	{
		return ::cleat_json_type(v_);
	}
	/* A member, an element; empty when there is none. */
	json operator[](std::string_view key) const noexcept
	{
		return cleat_json_getn(v_, key.data(), key.size());
	}
	template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
	json operator[](I i) const noexcept
	{
		return cleat_json_at(v_, static_cast<size_t>(i));
	}
	/* Converted; the fallback for anything else. */
	std::string_view str(std::string_view fallback = {}) const noexcept
	{
		size_t n = 0;
		const char *p = cleat_json_strn(v_, &n);

		return p ? std::string_view(p, n) : fallback;
	}
	double num(double fallback = 0) const noexcept
	{
		return cleat_json_num(v_, fallback);
	}
	int64_t integer(int64_t fallback = 0) const noexcept
	{
		return cleat_json_int(v_, fallback);
	}
	bool boolean(bool fallback = false) const noexcept
	{
		return cleat_json_bool(v_, fallback);
	}
	/* Elements, members, bytes of a string. */
	size_t size() const noexcept
	{
		return cleat_json_size(v_);
	}
	/* As compact JSON text; "" when there is none. */
	std::string print() const
	{
		size_t n = 0;
		std::unique_ptr<char, detail::deleter<void, std::free>> text(
			cleat_json_print(v_, &n));

		return text ? std::string(text.get(), n) : std::string();
	}

	/* for (auto [key, value] : v): members of an object, elements of an array (their keys are ""). */
	struct member;
	class iterator;
	struct sentinel {};
	iterator begin() const noexcept;
	sentinel end() const noexcept
	{
		return {};
	}

private:
	const cleat_json *v_;
};

struct json::member {
	std::string_view key;
	json value;
};

class json::iterator {
public:
	explicit iterator(const cleat_json *v) noexcept : it_(cleat_json_each(v))
	{
		++*this;
	}
	iterator &operator++() noexcept
	{
		more_ = cleat_json_next(&it_);
		return *this;
	}
	member operator*() const noexcept
	{
		return { json(it_.key).str(), it_.value };
	}
	bool operator!=(sentinel) const noexcept
	{
		return more_;
	}

private:
	cleat_json_iter it_;
	bool more_ = false;
};

inline json::iterator json::begin() const noexcept
{
	return iterator(v_);
}

/* ---- JSON: making ---------------------------------------------------------------------------- */

/* A document: owns its values. */
class doc {
public:
	doc() = default;
	/* Takes it over. */
	explicit doc(cleat_doc *d) noexcept : d_(d)
	{
	}
	/* Strict JSON. Empty, or thrown, when it is not that. */
	static doc parse(std::string_view text, cleat_error *err = nullptr)
	{
		cleat_error mine = {};

		return doc(detail::check(cleat_doc_parse(text.data(), text.size(), nullptr, nullptr,
							 err ? err : &mine),
					 err, mine));
	}
	json root() const noexcept
	{
		return cleat_doc_root(d_.get());
	}
	json operator[](std::string_view key) const noexcept
	{
		return root()[key];
	}
	explicit operator bool() const noexcept
	{
		return d_ != nullptr;
	}
	operator cleat_doc *() const noexcept
	{
		return d_.get();
	}

private:
	handle<cleat_doc, cleat_doc_free> d_;
};

/* A member of an object that is being made, {"days", 3}: a text, a number, a boolean, nullptr, or a value of
 * another document. Parameters only: it borrows. */
class field_value {
public:
	field_value(const char *key, std::string_view v) noexcept
		: key_(key), kind_(v.data() ? text : null), text_(v.data()), n_(v.size())
	{
	}
	field_value(const char *key, const char *v) noexcept
		: field_value(key, v ? std::string_view(v) : std::string_view())
	{
	}
	field_value(const char *key, const std::string &v) noexcept
		: field_value(key, std::string_view(v))
	{
	}
	field_value(const char *key, std::nullptr_t) noexcept : key_(key), kind_(null)
	{
	}
	field_value(const char *key, json v) noexcept : key_(key), kind_(value), json_(v)
	{
	}
	template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
	field_value(const char *key, T v) noexcept
		: key_(key), kind_(std::is_same_v<T, bool>       ? boolean
				   : std::is_floating_point_v<T> ? real
				   : std::is_signed_v<T>         ? integer
								 : natural)
	{
		if constexpr (std::is_floating_point_v<T>)
			real_ = static_cast<double>(v);
		else
			natural_ = static_cast<uint64_t>(v);
	}
	void put(cleat_build *b) const noexcept
	{
		switch (kind_) {
		case null: cleat_build_null(b, key_); break;
		case text: cleat_build_strn(b, key_, text_, n_); break;
		case value: cleat_build_value(b, key_, json_); break;
		case boolean: cleat_build_bool(b, key_, natural_ != 0); break;
		case real: cleat_build_num(b, key_, real_); break;
		case integer: cleat_build_int(b, key_, static_cast<int64_t>(natural_)); break;
		case natural: cleat_build_uint(b, key_, natural_); break;
		}
	}

private:
	const char *key_;
	enum { null, text, value, boolean, real, integer, natural } kind_;
	const char *text_ = nullptr;
	size_t n_ = 0;
	json json_;
	double real_ = 0;
	uint64_t natural_ = 0;
};
using members = std::initializer_list<field_value>;

/* A document made step by step; see cleat_build. In arrays and at the top the key is nullptr. Nothing needs
 * checking before finish(). */
class builder {
public:
	builder() : b_(cleat_build_new(nullptr))
	{
	}
	builder &object(const char *key = nullptr) noexcept
	{
		cleat_build_object(b_.get(), key);
		return *this;
	}
	builder &array(const char *key = nullptr) noexcept
	{
		cleat_build_array(b_.get(), key);
		return *this;
	}
	builder &end() noexcept
	{
		cleat_build_end(b_.get());
		return *this;
	}
	template <class T> builder &add(const char *key, const T &v) noexcept
	{
		field_value(key, v).put(b_.get());
		return *this;
	}
	template <class T> builder &add(const T &v) noexcept
	{
		return add(nullptr, v);
	}
	operator cleat_build *() const noexcept
	{
		return b_.get();
	}
	/* Empty, or thrown, when something went wrong on the way. The builder is used up. */
	doc finish(cleat_error *err = nullptr)
	{
		cleat_error mine = {};

		return doc(detail::check(cleat_build_finish(b_.release(), err ? err : &mine), err,
					 mine));
	}

private:
	handle<cleat_build, cleat_build_free> b_;
};

/* An object: cleat::object({ { "city", "Oslo" }, { "days", 3 } }). */
inline doc object(members list, cleat_error *err = nullptr)
{
	builder b;

	b.object();
	for (const field_value &m : list)
		m.put(b);
	return b.end().finish(err);
}
/* ---- fields of a struct ---------------------------------------------------------------------- */

/* As in C (<cleat/field.h>), with functions instead of designated initialisers:
 *
 *	struct forecast { const char *city; int days; char unit[8]; };
 *	static constexpr cleat::field<forecast> fields[] = {
 *		CLEAT_FIELD(forecast, city, "City name"),
 *		CLEAT_FIELD(forecast, days, "Days ahead").range(1, 14).fallback("1"),
 *		CLEAT_FIELD(forecast, unit, "Scale").choices("C|F").optional(),
 *		CLEAT_FIELD_END,
 *	};
 *
 * Structs are those of C: bool, numbers, const char *, char[N], enums, const cleat_json *, structs and arrays
 * of these. An array of field<T> is where C wants a const cleat_field *. */
template <class T> struct field : cleat_field {
	constexpr field() noexcept : cleat_field()
	{
	}
	constexpr field(uint8_t type_, const char *name_, size_t at, size_t size, const char *doc_) noexcept
		: cleat_field()
	{
		type = type_;
		name = name_;
		offset = static_cast<uint32_t>(at);
		width = static_cast<uint32_t>(size);
		record = sizeof(T);
		doc = doc_;
	}
	constexpr field range(double lo, double hi) const noexcept
	{
		return at_least(lo).at_most(hi);
	}
	constexpr field at_least(double lo) const noexcept
	{
		field f = *this;
		f.bounds |= 1;
		f.min = lo;
		return f;
	}
	constexpr field at_most(double hi) const noexcept
	{
		field f = *this;
		f.bounds |= 2;
		f.max = hi;
		return f;
	}
	constexpr field optional(bool yes = true) const noexcept
	{
		field f = *this;
		f.cleat_field::optional = yes;
		return f;
	}
	/* JSON text */
	constexpr field fallback(const char *json_text) const noexcept
	{
		field f = *this;
		f.cleat_field::fallback = json_text;
		return f;
	}
	constexpr field choices(const char *list, const char *titles = nullptr) const noexcept
	{
		field f = *this;
		f.cleat_field::choices = list;
		f.choice_titles = titles;
		return f;
	}
	constexpr field format(const char *text) const noexcept
	{
		field f = *this;
		f.cleat_field::format = text;
		return f;
	}
	constexpr field title(const char *text) const noexcept
	{
		field f = *this;
		f.cleat_field::title = text;
		return f;
	}
	/* offsetof() of a bool that says whether it was there */
	constexpr field present(size_t at) const noexcept
	{
		field f = *this;
		f.has_present = true;
		f.present_offset = static_cast<uint32_t>(at);
		return f;
	}
	/* for the macros */
	constexpr field of(const cleat_field *table, const cleat_enum *values) const noexcept
	{
		field f = *this;
		f.fields = table;
		f.names = values;
		return f;
	}
	constexpr field elements(size_t count_at) const noexcept
	{
		field f = *this;
		f.array = true;
		f.element = width;
		f.count_offset = static_cast<uint32_t>(count_at);
		return f;
	}
};

/* What a value of an enum is called in JSON; an array of them ends with CLEAT_ENUM_END. */
template <class E> constexpr cleat_enum named(const char *name, E value) noexcept
{
	return { name, static_cast<int64_t>(value) };
}

namespace detail
{

template <class M> constexpr uint8_t type_of() noexcept
{
	using U = std::remove_cv_t<M>;

	if constexpr (std::is_same_v<U, bool>)
		return CLEAT_T_BOOL;
	else if constexpr (std::is_floating_point_v<U> && sizeof(U) <= sizeof(double))
		return CLEAT_T_REAL;
	else if constexpr (std::is_integral_v<U> && !std::is_same_v<U, char>)
		return std::is_signed_v<U> ? CLEAT_T_INT : CLEAT_T_UINT;
	else if constexpr (std::is_same_v<U, const char *> || std::is_same_v<U, char *>)
		return CLEAT_T_STRING;
	else if constexpr (std::is_same_v<std::remove_cv_t<std::remove_extent_t<U>>, char>)
		return CLEAT_T_CHARS;
	else if constexpr (std::is_same_v<U, const cleat_json *>)
		return CLEAT_T_JSON;
	else
		static_assert(!sizeof(M), "no field can be of this type; see <cleat/field.h>");
}
template <class M> constexpr uint8_t enum_of() noexcept
{
	static_assert(std::is_enum_v<M> || std::is_integral_v<M>, "the member is no enum");
	return CLEAT_T_ENUM;
}
template <class P> using pointed = std::remove_cv_t<std::remove_pointer_t<P>>;

} // namespace detail

#define CLEAT_MEMBER_(T, type, M, member, ...)                                                     \
	::cleat::field<T>(type, #member, offsetof(T, member), sizeof(M), __VA_ARGS__)
#define CLEAT_FIELD(T, member, doc)                                                                \
	CLEAT_MEMBER_(T, ::cleat::detail::type_of<decltype(T::member)>(), T::member, member, doc)
#define CLEAT_ENUM(T, member, table, doc)                                                          \
	CLEAT_MEMBER_(T, ::cleat::detail::enum_of<decltype(T::member)>(), T::member, member, doc)  \
		.of(nullptr, table)
#define CLEAT_RECORD(T, member, table, doc)                                                        \
	CLEAT_MEMBER_(T, CLEAT_T_RECORD, T::member, member, doc).of(table, nullptr)
#define CLEAT_ELEMENT_(T, member) ::cleat::detail::pointed<decltype(T::member)>
#define CLEAT_ARRAY(T, member, count, doc)                                                         \
	CLEAT_MEMBER_(T, ::cleat::detail::type_of<CLEAT_ELEMENT_(T, member)>(),                    \
		      CLEAT_ELEMENT_(T, member), member, doc)                                      \
		.elements(offsetof(T, count))
#define CLEAT_ENUM_ARRAY(T, member, count, table, doc)                                             \
	CLEAT_MEMBER_(T, ::cleat::detail::enum_of<CLEAT_ELEMENT_(T, member)>(),                    \
		      CLEAT_ELEMENT_(T, member), member, doc)                                      \
		.of(nullptr, table)                                                                \
		.elements(offsetof(T, count))
#define CLEAT_RECORD_ARRAY(T, member, count, table, doc)                                           \
	CLEAT_MEMBER_(T, CLEAT_T_RECORD, CLEAT_ELEMENT_(T, member), member, doc)                   \
		.of(table, nullptr)                                                                \
		.elements(offsetof(T, count))
/* clang-format off */
#define CLEAT_FIELD_END {}
/* clang-format on */

/* ---- a request -------------------------------------------------------------------------------- */

/* What a handler gets. The rest of <cleat/request.h> takes it as it is: cleat_request_progress(r, ...). */
class request {
public:
	explicit request(cleat_request *r) noexcept : r_(r)
	{
	}
	operator cleat_request *() const noexcept
	{
		return r_;
	}
	/* Arguments, or their declared defaults; "" / 0 / false when absent. */
	json arg(const zstr &name) const noexcept
	{
		return cleat_arg(r_, name);
	}
	std::string_view str(const zstr &name) const noexcept
	{
		return arg(name).str("");
	}
	double num(const zstr &name) const noexcept
	{
		return cleat_arg_num(r_, name);
	}
	int64_t integer(const zstr &name) const noexcept
	{
		return cleat_arg_int(r_, name);
	}
	bool boolean(const zstr &name) const noexcept
	{
		return cleat_arg_bool(r_, name);
	}
	bool given(const zstr &name) const noexcept
	{
		return cleat_arg_given(r_, name);
	}
	/* The decoded struct of a tool that was declared with fields of T. */
	template <class T> const T &args() const noexcept
	{
		return *static_cast<const T *>(cleat_request_args(r_));
	}
	/* The variable that a resource's template found. */
	std::string_view var(const zstr &name) const noexcept
	{
		return cleat_request_var(r_, name);
	}
	bool cancelled() const noexcept
	{
		return cleat_request_cancelled(r_);
	}

	/* Replies; each gives a status to return. */
	int text(std::string_view s) const noexcept
	{
		return cleat_reply_textn(r_, s.data() ? s.data() : "", s.size());
	}
	/* The tool failed, and the model should read why. */
	int error(std::string_view s) const noexcept
	{
		return cleat_reply_error(r_, "%.*s", static_cast<int>(s.size()), s.data());
	}
	/* The request is wrong: a JSON-RPC error. */
	int reject(int rpc_code, std::string_view s) const noexcept
	{
		return cleat_reply_reject(r_, rpc_code, "%.*s", static_cast<int>(s.size()),
					  s.data());
	}
	/* A structured result: r.reply({ { "sum", 3 } }), a value, or the struct of the output fields. */
	int reply(json v) const noexcept
	{
		return cleat_reply_json(r_, v);
	}
	int reply(members list) const
	{
		return reply(object(list).root());
	}
	template <class T> int record(const T &v) const noexcept
	{
		return cleat_reply_record(r_, &v);
	}

private:
	cleat_request *r_;
};

namespace detail
{

/* What a handler gives: a status, nothing, or a text, which is the reply then. */
template <class F> int run(F &f, cleat_request *req)
{
	using result = std::invoke_result_t<F &, request &>;
	request r(req);

	if constexpr (std::is_void_v<result>) {
		f(r);
		return CLEAT_OK;
	} else if constexpr (std::is_same_v<result, int>) {
		return f(r);
	} else {
		static_assert(std::is_convertible_v<result, std::string_view>,
			      "a handler gives a status (int), nothing, or a text");
		const auto &text = f(r);

		return r.text(text);
	}
}

/* The handler that C calls; nothing is thrown past it. */
template <class F> int call(cleat_request *req) noexcept
{
	F &f = *static_cast<F *>(cleat_request_userdata(req));
#ifdef __cpp_exceptions
	try {
		return run(f, req);
	} catch (const std::bad_alloc &) {
		return CLEAT_ENOMEM;
	} catch (const std::exception &e) {
		return cleat_reply_error(req, "%s", e.what());
	} catch (...) {
		return cleat_reply_error(req, "the handler threw what is no std::exception");
	}
#else
	return run(f, req);
#endif
}

template <class F> void destroy(void *f) noexcept
{
	delete static_cast<F *>(f);
}

} // namespace detail

/* ---- a server --------------------------------------------------------------------------------- */

/* Handlers are anything that can be called with a cleat::request & and gives a status, nothing, or a text.
 * They are kept (moved or copied) until what they serve is gone. Errors latch, as in C. */
class server {
public:
	explicit server(const zstr &name, const zstr &version, const cleat_server_options &o = {})
		: s_(cleat_server_new(name, version, &o))
	{
	}
	operator cleat_server *() const noexcept
	{
		return s_.get();
	}
	template <class F> server &tool(const zstr &signature, const zstr &description, F &&f)
	{
		cleat_tool t = {};

		t.signature = signature;
		t.description = description;
		return tool(t, std::forward<F>(f));
	}
	/* With the arguments as a struct: f(cleat::request &, const T &). */
	template <class T, size_t N, class F>
	server &tool(const zstr &name, const zstr &description, const field<T> (&input)[N], F &&f)
	{
		cleat_tool t = {};

		t.name = name;
		t.description = description;
		return tool(t, input, std::forward<F>(f));
	}
	template <class T, size_t N, class F>
	server &tool(cleat_tool t, const field<T> (&input)[N], F &&f)
	{
		static_assert(sizeof(field<T>) == sizeof(cleat_field));
		t.input = input;
		return tool(t, [g = std::decay_t<F>(std::forward<F>(f))](request &r) mutable {
			return g(r, r.args<T>());
		});
	}
	/* With whatever else a tool has; its call, userdata and destroy are taken for the handler. */
	template <class F> server &tool(cleat_tool t, F &&f)
	{
		keep(t, t.call, std::forward<F>(f));
		cleat_server_add_tool(*this, &t);
		return *this;
	}
	template <class F> server &resource(const zstr &uri, const zstr &description, F &&f)
	{
		cleat_resource r = {};

		r.uri = uri;
		r.description = description;
		return resource(r, std::forward<F>(f));
	}
	template <class F> server &resource(cleat_resource r, F &&f)
	{
		keep(r, r.read, std::forward<F>(f));
		cleat_server_add_resource(*this, &r);
		return *this;
	}
	template <class F> server &prompt(const zstr &signature, const zstr &description, F &&f)
	{
		cleat_prompt p = {};

		p.signature = signature;
		p.description = description;
		return prompt(p, std::forward<F>(f));
	}
	template <class F> server &prompt(cleat_prompt p, F &&f)
	{
		keep(p, p.get, std::forward<F>(f));
		cleat_server_add_prompt(*this, &p);
		return *this;
	}

	/* The whole main(); the server is gone afterwards. */
	int main(int argc, char **argv)
	{
		return cleat_server_main(s_.release(), argc, argv);
	}
	int run_stdio()
	{
		return check(cleat_server_run_stdio(*this));
	}
	int listen_http(const zstr &address, const cleat_http_options &o = {})
	{
		return check(cleat_server_listen_http(*this, address, &o));
	}
	/* Until stop(), which any thread may call. */
	int run()
	{
		return check(cleat_server_run(*this));
	}
	void stop() noexcept
	{
		cleat_server_stop(*this);
	}
	/* What went wrong, the first or the last thing; see cleat_server_error(). */
	const cleat_error &why() const noexcept
	{
		return *cleat_server_error(*this);
	}

private:
	template <class What, class F> static void keep(What &w, cleat_handler *&handler, F &&f)
	{
		using kept = std::decay_t<F>;

		w.userdata = new kept(std::forward<F>(f));
		w.destroy = detail::destroy<kept>;
		handler = detail::call<kept>;
	}
	int check(int status) const
	{
		return detail::check(status, why());
	}

	handle<cleat_server, cleat_server_free> s_;
};

/* ---- a client --------------------------------------------------------------------------------- */

/* How a call ended. */
class result {
public:
	/* Takes it over. */
	explicit result(cleat_result *r) noexcept : r_(r)
	{
	}
	operator cleat_result *() const noexcept
	{
		return r_.get();
	}
	int status() const noexcept
	{
		return cleat_result_status(r_.get());
	}
	bool ok() const noexcept
	{
		return status() == CLEAT_OK;
	}
	const cleat_error &why() const noexcept
	{
		return *cleat_result_error(r_.get());
	}
	/* Throws what failed; without exceptions, gives the status. */
	int check() const
	{
		return detail::check(status(), why());
	}
	/* All text in it; also what a tool that failed has to say. */
	std::string_view text() const noexcept
	{
		return cleat_result_text(r_.get());
	}
	/* The structured part, or the whole. */
	json data() const noexcept
	{
		return cleat_result_json(r_.get());
	}
	json items() const noexcept
	{
		return cleat_result_items(r_.get());
	}
	/* Decoded into a struct, whose texts live as long as the result. */
	template <class T, size_t N> int record(const field<T> (&fields)[N], T &ret) const
	{
		int rc = cleat_result_record(r_.get(), fields, &ret);

		return rc ? detail::check(rc, why()) : rc;
	}

private:
	handle<cleat_result, cleat_result_free> r_;
};

class client {
public:
	/* Takes it over. */
	explicit client(cleat_client *c) noexcept : c_(c)
	{
	}
	static client spawn(std::initializer_list<const char *> command,
			    const cleat_client_options &o = {})
	{
		std::vector<const char *> argv(command);

		argv.push_back(nullptr);
		return client(cleat_client_spawn(argv.data(), &o));
	}
	static client connect(const zstr &url, const cleat_client_options &o = {})
	{
		return client(cleat_client_connect(url, &o));
	}
	static client inproc(const server &s, const cleat_client_options &o = {})
	{
		return client(cleat_client_inproc(s, &o));
	}
	operator cleat_client *() const noexcept
	{
		return c_.get();
	}
	/* Reaches the server now. */
	int open()
	{
		return detail::check(cleat_client_open(*this), *cleat_client_error(*this));
	}
	/* Calls a tool: c.call("add", { { "a", 2 }, { "b", 0.5 } }). */
	result call(const zstr &tool, members args = {})
	{
		return call(tool, object(args).root());
	}
	result call(const zstr &tool, json args)
	{
		return result(cleat_client_call(*this, tool, args));
	}
	/* The same without waiting: f(cleat::result) is called, once, when the loop is stepped. */
	template <class F> cleat_call *start(const zstr &tool, json args, F &&f)
	{
		using kept = std::decay_t<F>;
		cleat_call_options o = {};
		auto owned = std::make_unique<kept>(std::forward<F>(f));
		cleat_call *call;

		o.userdata = owned.get();
		o.on_done = [](cleat_call *c, cleat_result *r) noexcept {
			std::unique_ptr<kept> g(static_cast<kept *>(cleat_call_userdata(c)));

			(*g)(result(r));
		};
		call = cleat_client_start_call(*this, &o, tool, args);
		if (call)
			owned.release();
		else
			detail::check(CLEAT_ENOMEM, out_of_memory());
		return call;
	}
	result read(const zstr &uri)
	{
		return result(cleat_client_read(*this, uri));
	}
	/* All pages of a list: result.items(). */
	result list(enum cleat_list what)
	{
		return result(cleat_client_list(*this, what));
	}

private:
	static cleat_error out_of_memory() noexcept
	{
		cleat_error e = {};

		e.status = CLEAT_ENOMEM;
		return e;
	}

	handle<cleat_client, cleat_client_free> c_;
};

} // namespace cleat

#endif
