/* cleat/cleat.h - all of Cleat in one include. Each header also stands alone. */
#ifndef CLEAT_CLEAT_H
#define CLEAT_CLEAT_H

#include <cleat/base.h>
#include <cleat/client.h>
#include <cleat/connection.h>
#include <cleat/field.h>
#include <cleat/http.h>
#include <cleat/json.h>
#include <cleat/loop.h>
#include <cleat/main.h>
#include <cleat/request.h>
#include <cleat/rpc.h>
#include <cleat/schema.h>
#include <cleat/server.h>
#include <cleat/uri.h>
#include <cleat/wire.h>

#endif
