/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINES_AROUND 2 /* the heading, and the keys */

/** The window on the table. */
static struct {
	SCREEN *screen;
	size_t first; /**< line of the table that is shown first */
	size_t lines; /**< of the table that was drawn */
	bool keys;
} view;

static void
choose_colours(void)
{
	const char *none = getenv("NO_COLOR");

	if (!has_colors() || (none != NULL && *none != '\0'))
		return;
	start_color();
	use_default_colors();
	init_pair(INFO_STYLE_TITLE, COLOR_CYAN, -1);
	init_pair(INFO_STYLE_NOTICE, COLOR_YELLOW, -1);
	init_pair(INFO_STYLE_TROUBLE, COLOR_RED, -1);
}

bool
info_screen_begin(void)
{
	if (!isatty(STDOUT_FILENO))
		return false;
	view.screen = newterm(NULL, stdout, stdin);
	if (view.screen == NULL)
		return false;
	if (tigetstr("cup") == NULL) {
		info_screen_end();
		return false;
	}
	view.keys = isatty(STDIN_FILENO);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	choose_colours();
	return true;
}

void
info_screen_end(void)
{
	endwin();
	delscreen(view.screen);
	view.screen = NULL;
}

static size_t
room(void)
{
	return LINES > LINES_AROUND ? (size_t)(LINES - LINES_AROUND) : 1;
}

/* The last line of the table is never above the last one of the window, unless all is shown. */
static void
move_to(size_t first)
{
	size_t last = view.lines > room() ? view.lines - room() : 0;

	view.first = first < last ? first : last;
}

static void
write_at(int line, attr_t look, const char *text)
{
	attrset(look);
	mvaddnstr(line, 0, text, COLS);
	attrset(A_NORMAL);
}

static attr_t
look_of(enum info_style style)
{
	attr_t look = style == INFO_STYLE_PLAIN ? A_NORMAL : A_BOLD;

	return style == INFO_STYLE_HEADING ? look | A_UNDERLINE : look | COLOR_PAIR(style);
}

void
info_screen_draw(const char *heading, const struct info_table *table)
{
	char keys[128];
	size_t end;

	view.lines = table->n;
	move_to(view.first);
	end = view.first + room() < view.lines ? view.first + room() : view.lines;
	erase();
	write_at(0, A_BOLD, heading);
	for (size_t i = view.first; i < end; i++)
		write_at((int)(i - view.first) + 1, look_of(table->line[i].style),
				table->line[i].text);
	snprintf(keys, sizeof(keys), "lines %zu-%zu of %zu%s", view.lines != 0 ? view.first + 1 : 0,
			end, view.lines,
			view.keys ? "; arrows, PgUp, PgDn: scroll; s: sort; q: quit" : "");
	write_at(LINES - 1, A_REVERSE, keys);
	refresh();
}

static enum info_wish
obey(int key)
{
	size_t page = room();

	switch (key) {
	case 'q':
	case 'Q':
		return INFO_WISH_QUIT;
	case 's':
		return INFO_WISH_SORT;
	case KEY_DOWN:
	case 'j':
		move_to(view.first + 1);
		break;
	case KEY_UP:
	case 'k':
		move_to(view.first != 0 ? view.first - 1 : 0);
		break;
	case KEY_NPAGE:
	case ' ':
		move_to(view.first + page);
		break;
	case KEY_PPAGE:
		move_to(view.first > page ? view.first - page : 0);
		break;
	case KEY_HOME:
	case 'g':
		move_to(0);
		break;
	case KEY_END:
	case 'G':
		move_to(view.lines);
		break;
	default:
		break;
	}
	return INFO_WISH_REDRAW;
}

enum info_wish
info_screen_wait(double seconds)
{
	struct timespec left = { .tv_sec = (time_t)seconds };
	int key;

	if (!view.keys) {
		left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
		nanosleep(&left, NULL);
		return INFO_WISH_LOOK;
	}
	timeout((int)(seconds * 1000));
	key = getch();
	return key == ERR ? INFO_WISH_LOOK : obey(key);
}
