# Adds up TAP. Input: the files that scripts/tap-run wrote (one per program, named after it, ending
# in a line "# exit STATUS"). Output: one line per case, "pass|fail|skip<TAB>program: case".
#
# Deliberately strict about programs and lenient about spelling: a program that prints no plan, stops
# before its plan is fulfilled or exits non-zero without a failed case is itself a failed case; but
# cases may be indented and a skip may be spelled "ok 1 # SKIP" or "not ok 1 # SKIP", because
# different versions of cmocka do.

function begin(    n, parts)
{
	n = split(FILENAME, parts, "/")
	program = parts[n]
	sub(/\.tap$/, "", program)
	planned = -1
	seen = failed = 0
	status = "unknown"
}

function finish(    why)
{
	if (program == "")
		return
	why = status == "124" || status == "137" ? "timed out" : "exit status " status
	if (planned < 0)
		print "fail\t" program ": printed no plan (" why ")"
	else if (seen < planned)
		print "fail\t" program ": only " seen " of " planned " cases ran (" why ")"
	else if (status != "0" && !failed)
		print "fail\t" program ": " why
}

FNR == 1 {
	finish()
	begin()
}

/^# exit / {
	status = $3
	next
}

/^[ \t]*1\.\.[0-9]+/ {
	count = $1
	sub(/^1\.\./, "", count)
	planned = (planned < 0 ? 0 : planned) + count
	if (count + 0 == 0) {
		reason = $0
		if (sub(/^.*# *[Ss][Kk][Ii][Pp] */, "", reason))
			print "skip\t" program ": " reason
		else
			print "fail\t" program ": has no cases"
	}
	next
}

/^[ \t]*(not )?ok [0-9]+/ {
	seen++
	name = $0
	bad = name ~ /^[ \t]*not /
	sub(/^[ \t]*(not )?ok [0-9]+[ \t]*(- )?/, "", name)
	if (name ~ /# *[Ss][Kk][Ii][Pp]/) {
		sub(/^# *[Ss][Kk][Ii][Pp] */, "", name)
		sub(/# *[Ss][Kk][Ii][Pp] */, "- ", name)
		print "skip\t" program ": " name
	} else if (bad) {
		failed++
		print "fail\t" program ": " name
	} else {
		print "pass\t" program ": " name
	}
	next
}

/^Bail out!/ {
	failed++
	print "fail\t" program ": " $0
}

END {
	finish()
}
