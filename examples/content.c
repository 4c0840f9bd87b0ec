/* content.c - every kind of content that a tool can answer with, and notes about who it is for.
 *
 *	examples/try content show
 */
#include <cleat/cleat.h>

static int show(cleat_request *req)
{
	static const unsigned char gif[] = "GIF89a\1\0\1\0\0\0\0;";
	static const unsigned char wav[44] = "RIFF\44\0\0\0WAVEfmt \20\0\0\0\1\0\1";

	/* Annotations belong to the next block only. */
	cleat_reply_annotate(
		req, &(cleat_annotations){ .user = true, .has_priority = true, .priority = 0.9 },
		NULL);
	cleat_reply_text(req, "For the user, and important.");
	cleat_reply_annotate(
		req,
		&(cleat_annotations){ .assistant = true, .last_modified = "2026-07-28T12:00:00Z" },
		"{\"example.org/origin\": \"a sensor\"}");
	cleat_reply_textf(req, "For the model: %d degrees.", 21);

	cleat_reply_image(req, "image/gif", gif, sizeof gif - 1);
	cleat_reply_audio(req, "audio/wav", wav, sizeof wav);
	cleat_reply_resource_text(req, "note://1", "text/plain", "A text that has an address.");
	cleat_reply_resource_blob(req, "pixel://1", "image/gif", gif, sizeof gif - 1);
	cleat_reply_link(req, "https://example.org/", "example", "text/html", "More to read");
	/* Beside all that, for programs: the structured result. */
	return cleat_reply_jsonf(req, "{kinds: %d, ok: true}", 7);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("content", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "show()",
					 .description = "One block of every kind",
					 .call = show,
				 });
	return cleat_server_main(s, argc, argv);
}
