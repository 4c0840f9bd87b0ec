/* hello.cpp - a server in C++17: handlers are lambdas, arguments a struct, and an exception is what the tool
 * has to say about its failure.
 *
 *	examples/try hello_cpp buy '{"fish":"cod","count":3}'
 */
#include <cleat/cleat.hpp>

#include <map>
#include <stdexcept>

enum class kept { fresh, salted };
struct order {
	const char *fish;
	int count;
	kept how;
};
static constexpr cleat_enum ways[] = { cleat::named("fresh", kept::fresh),
				       cleat::named("salted", kept::salted), CLEAT_ENUM_END };
static constexpr cleat::field<order> order_fields[] = {
	CLEAT_FIELD(order, fish, "Which fish"),
	CLEAT_FIELD(order, count, "How many").range(1, 100).fallback("1"),
	CLEAT_ENUM(order, how, ways, "Kept how").fallback("\"fresh\""),
	CLEAT_FIELD_END,
};

int main(int argc, char **argv)
{
	std::map<std::string, int, std::less<>> stock = { { "cod", 20 }, { "herring", 3 } };
	cleat::server s("fishmonger", "1.0.0");

	s.tool("greet(name: string)", "Says hello", [](cleat::request &r) {
		return "Hello, " + std::string(r.str("name")) + "!";
	});
	s.tool("buy", "Buys fish", order_fields, [&stock](cleat::request &r, const order &o) {
		auto found = stock.find(o.fish);

		if (found == stock.end() || found->second < o.count)
			throw std::runtime_error("There is not that much of it.");
		found->second -= o.count;
		return r.reply({ { "left", found->second }, { "salted", o.how == kept::salted } });
	});
	s.resource("stock://{fish}", "How many are left", [&stock](cleat::request &r) {
		auto found = stock.find(r.var("fish"));

		return found == stock.end() ? cleat_reply_not_found(r)
					    : r.text(std::to_string(found->second));
	});
	return s.main(argc, argv);
}
