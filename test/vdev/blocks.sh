# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# The marked blocks of a page: $page is its file, $recipe a recipe in it.

# parts : the recipes of the page and what they have, one "recipe part" a line.
parts() {
	sed -n 's/^<!-- recipe \([a-z]*\): \([a-z.]*\) -->$/\1 \2/p' "$page"
}

# block PART : the indented text behind that mark of the recipe, with its empty lines.
block() {
	awk -v mark="<!-- recipe $recipe: $1 -->" '
		$0 == mark { inside = 1; next }
		inside && /^    / { printf "%s%s\n", empty, substr($0, 5); some = 1; empty = ""; next }
		inside && $0 == "" { if (some) empty = empty "\n"; next }
		inside { exit }' "$page"
}

# constant FILE : what is the same in each run, without blanks that depend on the length of a number.
constant() {
	sed -E 's/[0-9]+\.[0-9]+/N/g; s/[[:blank:]]+/ /g' "$1"
}
