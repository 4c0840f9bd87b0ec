// A server in C++17: the same functions. Structs are filled member by member, a lambda without captures is a
// handler.
#include <cleat/cleat.h>

#include <string>

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("greeter", "1.0.0", nullptr);
	cleat_tool greet{};

	greet.signature = "greet(name: string)";
	greet.description = "Says hello";
	greet.call = [](cleat_request *req) {
		std::string text = std::string("Hello, ") + cleat_arg_str(req, "name") + "!";
		return cleat_reply_text(req, text.c_str());
	};
	cleat_server_add_tool(s, &greet);
	return cleat_server_main(s, argc, argv);
}
