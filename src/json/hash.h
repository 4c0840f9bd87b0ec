/* json/hash.h - a hash of whole values that agrees with cleat_json_equal().
 *
 * Values that are equal have equal hashes: members in any order, numbers by value. The seed comes
 * from the caller, so that a peer cannot choose collisions. Iterative.
 */
#ifndef JSON_HASH_H
#define JSON_HASH_H

#include <cleat/json.h>

uint64_t json_hash(const cleat_json *v, uint64_t seed);

#endif
