/* program/check/protocol_table.c - the messages of MCP, all revisions, as field lists.
 *
 *	name:type       a member that has to be there      name?:type   one that may be
 *	type[]  type{}  an array, an object of these       'x'|'y'      one of these words
 *	&Name           the members of Name, too           @cd          in these revisions only
 *	<key>A|B        which of them is told by the word under "key"
 *
 * Revisions: a 2024-11-05, b 2025-03-26, c 2025-06-18, d 2025-11-25, e 2026-07-28. Members that are not
 * named are allowed everywhere. What cannot be said this way is in protocol.c.
 */
#include "check/protocol_types.h"

const char *const protocol_revisions[PROTOCOL_REVISIONS] = { "2024-11-05", "2025-03-26",
							     "2025-06-18", "2025-11-25",
							     "2026-07-28" };

#define ALL "abcde"

const struct protocol_type protocol_types[] = {
	/* what everything has */
	{ "Id", ALL, "str|int" },
	{ "Role", ALL, "'user'|'assistant'" },
	{ "Level", ALL,
	  "'debug'|'info'|'notice'|'warning'|'error'|'critical'|'alert'|'emergency'" },
	{ "Implementation", ALL,
	  "{name:str version:str title?:str@cde description?:str@de websiteUrl?:str@de icons?:Icon[]@de}" },
	{ "Icon", "de", "{src:str mimeType?:str sizes?:str[] theme?:'light'|'dark'}" },
	{ "Annotations", ALL, "{audience?:Role[] priority?:unit lastModified?:str@cde}" },
	{ "Params", "abcd", "{_meta?:{progressToken?:Id}}" },
	{ "Params", "e", "{_meta:RequestMeta}" },
	{ "RequestMeta", "e",
	  "{io.modelcontextprotocol/protocolVersion:str io.modelcontextprotocol/clientCapabilities:ClientCan "
	  "io.modelcontextprotocol/clientInfo?:Implementation io.modelcontextprotocol/logLevel?:Level "
	  "progressToken?:Id}" },
	{ "Page", ALL, "{&Params cursor?:str}" },
	{ "Note", "abcd", "{_meta?:obj}" },
	{ "Note", "e", "{_meta?:{io.modelcontextprotocol/subscriptionId?:Id}}" },
	{ "Result", "abcd", "{_meta?:obj}" },
	{ "Result", "e",
	  "{_meta?:{io.modelcontextprotocol/serverInfo?:Implementation} resultType:str}" },
	{ "Cacheable", "abcd", "{&Result}" },
	{ "Cacheable", "e", "{&Result ttlMs:nat cacheScope:'public'|'private'}" },
	{ "Paged", ALL, "{&Cacheable nextCursor?:str}" },
	{ "Error", ALL, "{code:int message:str data?:any}" },
	{ "UnsupportedVersion", "e", "{supported:str[] requested:str}" },
	{ "MissingCapability", "e", "{requiredCapabilities:ClientCan}" },
	{ "UrlsFirst", "d", "{elicitations:UrlQuestion[]}" },

	/* what each side can do */
	{ "ClientCan", ALL,
	  "{experimental?:obj{} extensions?:obj{}@e roots?:{listChanged?:bool@abcd} sampling?:obj@abc "
	  "sampling?:{context?:obj tools?:obj}@de elicitation?:obj@c elicitation?:{form?:obj url?:obj}@de "
	  "tasks?:{cancel?:obj list?:obj requests?:{elicitation?:{create?:obj} "
	  "sampling?:{createMessage?:obj}}}@d}" },
	{ "ServerCan", ALL,
	  "{experimental?:obj{} extensions?:obj{}@e logging?:obj completions?:obj@bcde "
	  "prompts?:{listChanged?:bool} resources?:{listChanged?:bool subscribe?:bool} "
	  "tools?:{listChanged?:bool} tasks?:{cancel?:obj list?:obj requests?:{tools?:{call?:obj}}}@d}" },
	{ "Filter", "e",
	  "{toolsListChanged?:bool promptsListChanged?:bool resourcesListChanged?:bool "
	  "resourceSubscriptions?:str[]}" },

	/* content */
	{ "Text", ALL, "{type:'text' text:str annotations?:Annotations _meta?:obj@cde}" },
	{ "Image", ALL,
	  "{type:'image' data:str mimeType:str annotations?:Annotations _meta?:obj@cde}" },
	{ "Audio", "bcde",
	  "{type:'audio' data:str mimeType:str annotations?:Annotations _meta?:obj@cde}" },
	{ "Link", "cde", "{type:'resource_link' &Resource}" },
	{ "Embedded", ALL,
	  "{type:'resource' resource:Contents annotations?:Annotations _meta?:obj@cde}" },
	{ "ToolUse", "de", "{type:'tool_use' id:str name:str input:obj _meta?:obj}" },
	{ "ToolAnswer", "de",
	  "{type:'tool_result' toolUseId:str content:Block[] structuredContent?:obj@d isError?:bool "
	  "_meta?:obj}" },
	{ "Contents", ALL, "TextContents|BlobContents" },
	{ "TextContents", ALL, "{uri:str text:str mimeType?:str _meta?:obj@cde}" },
	{ "BlobContents", ALL, "{uri:str blob:str mimeType?:str _meta?:obj@cde}" },
	{ "Block", "a", "<type>Text|Image|Embedded" },
	{ "Block", "b", "<type>Text|Image|Audio|Embedded" },
	{ "Block", "cde", "<type>Text|Image|Audio|Link|Embedded" },
	{ "Sample", "a", "<type>Text|Image" },
	{ "Sample", "bc", "<type>Text|Image|Audio" },
	{ "Sample", "de", "<type>Text|Image|Audio|ToolUse|ToolAnswer" },
	{ "Samples", "abc", "Sample" },
	{ "Samples", "de", "Sample|Sample[]" },

	/* what a server has */
	{ "Tool", ALL,
	  "{name:str description?:str title?:str@cde icons?:Icon[]@de inputSchema:ToolSchema "
	  "outputSchema?:ToolSchema@cd outputSchema?:{$schema?:str}@e annotations?:ToolHints@bcde "
	  "execution?:{taskSupport?:'forbidden'|'optional'|'required'}@d _meta?:obj@cde}" },
	{ "ToolSchema", "abcd",
	  "{type:'object' properties?:obj{} required?:str[] $schema?:str@d}" },
	{ "ToolSchema", "e", "{type:'object' $schema?:str}" },
	{ "ToolHints", "bcde",
	  "{title?:str readOnlyHint?:bool destructiveHint?:bool idempotentHint?:bool "
	  "openWorldHint?:bool}" },
	{ "Resource", ALL,
	  "{uri:str name:str title?:str@cde description?:str mimeType?:str size?:int "
	  "icons?:Icon[]@de annotations?:Annotations _meta?:obj@cde}" },
	{ "Template", ALL,
	  "{uriTemplate:str name:str title?:str@cde description?:str mimeType?:str icons?:Icon[]@de "
	  "annotations?:Annotations _meta?:obj@cde}" },
	{ "Prompt", ALL,
	  "{name:str title?:str@cde description?:str arguments?:PromptArgument[] icons?:Icon[]@de "
	  "_meta?:obj@cde}" },
	{ "PromptArgument", ALL, "{name:str title?:str@cde description?:str required?:bool}" },
	{ "PromptMessage", ALL, "{role:Role content:Block}" },
	{ "Reference", ALL, "<type>PromptReference|ResourceReference" },
	{ "PromptReference", ALL, "{type:'ref/prompt' name:str title?:str@cde}" },
	{ "ResourceReference", ALL, "{type:'ref/resource' uri:str}" },

	/* what a server asks */
	{ "Root", ALL, "{uri:str name?:str _meta?:obj@cde}" },
	{ "SamplingMessage", ALL, "{role:Role content:Samples _meta?:obj@de}" },
	{ "Sampling", ALL,
	  "{messages:SamplingMessage[] maxTokens:int systemPrompt?:str temperature?:num "
	  "stopSequences?:str[] includeContext?:'none'|'thisServer'|'allServers' metadata?:obj "
	  "modelPreferences?:{hints?:{name?:str}[] costPriority?:unit speedPriority?:unit "
	  "intelligencePriority?:unit} tools?:Tool[]@de toolChoice?:{mode?:'auto'|'none'|'required'}@de "
	  "task?:Ttl@d _meta?:{progressToken?:Id}@abcd}" },
	{ "Sampled", ALL, "{role:Role content:Samples model:str stopReason?:str _meta?:obj}" },
	{ "Roots", ALL, "{roots:Root[] _meta?:obj@abcd}" },
	{ "Question", "c", "{&FormQuestion}" },
	{ "Question", "de", "FormQuestion|UrlQuestion" },
	{ "FormQuestion", "cde",
	  "{message:str mode?:'form'@de requestedSchema:{type:'object' properties:Primitive{} "
	  "required?:str[] $schema?:str@de} task?:Ttl@d _meta?:{progressToken?:Id}@cd}" },
	{ "UrlQuestion", "de",
	  "{message:str mode:'url' url:str elicitationId:str@d task?:Ttl@d "
	  "_meta?:{progressToken?:Id}@d}" },
	{ "Answer", "c",
	  "{action:'accept'|'decline'|'cancel' content?:(str|num|bool){} _meta?:obj}" },
	{ "Answer", "de",
	  "{action:'accept'|'decline'|'cancel' content?:(str[]|str|num|bool){} _meta?:obj@d}" },
	{ "Primitive", "c", "TextField|NumberField|YesNoField|ChoiceField" },
	{ "Primitive", "de",
	  "TextField|NumberField|YesNoField|ChoiceField|TitledField|ManyField|TitledManyField" },
	{ "TextField", "cde",
	  "{type:'string' title?:str description?:str minLength?:int maxLength?:int "
	  "format?:'email'|'uri'|'date'|'date-time' default?:str@de}" },
	{ "NumberField", "cde",
	  "{type:'number'|'integer' title?:str description?:str minimum?:num maximum?:num "
	  "default?:num@de}" },
	{ "YesNoField", "cde", "{type:'boolean' title?:str description?:str default?:bool}" },
	{ "ChoiceField", "c",
	  "{type:'string' enum:str[] enumNames?:str[] title?:str description?:str}" },
	/* With enumNames it is the older way of the same; without them it is the newer one. */
	{ "ChoiceField", "de",
	  "{type:'string' enum:str[] title?:str description?:str default?:str}" },
	{ "TitledField", "de",
	  "{type:'string' oneOf:{const:str title:str}[] title?:str description?:str default?:str}" },
	{ "ManyField", "de",
	  "{type:'array' items:{type:'string' enum:str[]} minItems?:int maxItems?:int title?:str "
	  "description?:str default?:str[]}" },
	{ "TitledManyField", "de",
	  "{type:'array' items:{anyOf:{const:str title:str}[]} minItems?:int maxItems?:int title?:str "
	  "description?:str default?:str[]}" },

	/* several rounds (2026-07-28) */
	{ "InputRequired", "e", "{&Result inputRequests?:Asked{} requestState?:str}" },
	{ "Asked", "e", "<method>AskedSample|AskedRoots|AskedForm" },
	{ "AskedSample", "e", "{method:'sampling/createMessage' params:Sampling}" },
	{ "AskedRoots", "e", "{method:'roots/list' params?:{_meta?:obj}}" },
	{ "AskedForm", "e", "{method:'elicitation/create' params:Question}" },
	{ "Rounds", "abcd", "{&Params}" },
	{ "Rounds", "e", "{&Params inputResponses?:(Sampled|Roots|Answer){} requestState?:str}" },

	/* tasks (2025-11-25) */
	{ "Ttl", "d", "{ttl?:int}" },
	{ "Task", "d",
	  "{taskId:str status:'working'|'input_required'|'completed'|'failed'|'cancelled' createdAt:str "
	  "lastUpdatedAt:str ttl:int|null pollInterval?:int statusMessage?:str}" },
	{ "TaskCreated", "d", "{&Result task:Task}" },
	{ 0 },
};

const struct protocol_method protocol_methods[] = {
	/* beginning */
	{ "initialize", "abcd", 'c',
	  "{&Params protocolVersion:str capabilities:ClientCan clientInfo:Implementation}",
	  "{&Result protocolVersion:str capabilities:ServerCan serverInfo:Implementation instructions?:str}" },
	{ "notifications/initialized", "abcd", 'c', "?Note", NULL },
	{ "server/discover", "e", 'c', "Params",
	  "{&Cacheable supportedVersions:str[] capabilities:ServerCan instructions?:str}" },
	{ "ping", "abcd", 'b', "?Params", "Result" },

	/* what a server has */
	{ "tools/list", "abcd", 'c', "?Page", "{&Paged tools:Tool[]}" },
	{ "tools/list", "e", 'c', "Page", "{&Paged tools:Tool[]}" },
	{ "tools/call", ALL, 'c', "{&Rounds name:str arguments?:obj task?:Ttl@d}",
	  "{&Result content:Block[] isError?:bool structuredContent?:obj@cd}" },
	{ "resources/list", "abcd", 'c', "?Page", "{&Paged resources:Resource[]}" },
	{ "resources/list", "e", 'c', "Page", "{&Paged resources:Resource[]}" },
	{ "resources/templates/list", "abcd", 'c', "?Page",
	  "{&Paged resourceTemplates:Template[]}" },
	{ "resources/templates/list", "e", 'c', "Page", "{&Paged resourceTemplates:Template[]}" },
	{ "resources/read", ALL, 'c', "{&Rounds uri:str}", "{&Cacheable contents:Contents[]}" },
	{ "resources/subscribe", "abcd", 'c', "{&Params uri:str}", "Result" },
	{ "resources/unsubscribe", "abcd", 'c', "{&Params uri:str}", "Result" },
	{ "prompts/list", "abcd", 'c', "?Page", "{&Paged prompts:Prompt[]}" },
	{ "prompts/list", "e", 'c', "Page", "{&Paged prompts:Prompt[]}" },
	{ "prompts/get", ALL, 'c', "{&Rounds name:str arguments?:str{}}",
	  "{&Result description?:str messages:PromptMessage[]}" },
	{ "completion/complete", ALL, 'c',
	  "{&Params ref:Reference argument:{name:str value:str} context?:{arguments?:str{}}@cde}",
	  "{&Result completion:{values:str[]@abcd values:str100@e total?:int hasMore?:bool}}" },
	{ "logging/setLevel", "abcd", 'c', "{&Params level:Level}", "Result" },
	{ "subscriptions/listen", "e", 'c', "{&Params notifications:Filter}",
	  "{resultType:str _meta:{io.modelcontextprotocol/subscriptionId:Id "
	  "io.modelcontextprotocol/serverInfo?:Implementation}}" },

	/* what a server asks */
	{ "sampling/createMessage", "abcd", 's', "Sampling", "Sampled" },
	{ "roots/list", "abcd", 's', "?Params", "Roots" },
	{ "elicitation/create", "cd", 's', "Question", "Answer" },

	/* tasks */
	{ "tasks/get", "d", 'b', "{&Params taskId:str}", "{&Result &Task}" },
	{ "tasks/cancel", "d", 'b', "{&Params taskId:str}", "{&Result &Task}" },
	{ "tasks/result", "d", 'b', "{&Params taskId:str}", "Result" },
	{ "tasks/list", "d", 'b', "?Page", "{&Paged tasks:Task[]}" },
	{ "notifications/tasks/status", "d", 'b', "{&Note &Task}", NULL },

	/* meanwhile */
	{ "notifications/cancelled", "abce", 'b', "{&Note requestId:Id reason?:str}", NULL },
	{ "notifications/cancelled", "d", 'b', "{&Note requestId?:Id reason?:str}", NULL },
	{ "notifications/progress", "abcd", 'b',
	  "{&Note progressToken:Id progress:num total?:num message?:str@bcd}", NULL },
	{ "notifications/progress", "e", 's',
	  "{&Note progressToken:Id progress:num total?:num message?:str}", NULL },
	{ "notifications/message", ALL, 's', "{&Note level:Level data:any logger?:str}", NULL },
	{ "notifications/tools/list_changed", ALL, 's', "?Note", NULL },
	{ "notifications/resources/list_changed", ALL, 's', "?Note", NULL },
	{ "notifications/prompts/list_changed", ALL, 's', "?Note", NULL },
	{ "notifications/resources/updated", ALL, 's', "{&Note uri:str}", NULL },
	{ "notifications/roots/list_changed", "abcd", 'c', "?Note", NULL },
	{ "notifications/elicitation/complete", "d", 's', "{&Note elicitationId:str}", NULL },
	{ "notifications/subscriptions/acknowledged", "e", 's', "{&Note notifications:Filter}",
	  NULL },
	{ 0 },
};
