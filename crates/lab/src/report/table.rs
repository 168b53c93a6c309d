//! Tables of the page: each with a caption above it, and scrolling by itself where it is larger than the page.

use junkai_simulation::outcome::{Cell, Table};

use super::html::{Html, id};

/// What stands above a table.
pub(super) struct Legend<'a> {
    pub(super) caption: &'a str,
    /// Where the same numbers are in a file.
    pub(super) file: Option<String>,
}

/// Opens a table.
pub(super) fn open(page: &mut Html, id: &str, legend: &Legend<'_>) {
    page.raw(&format!("<p class=\"caption\" id=\"{id}\">"));
    page.escaped(legend.caption);
    if let Some(file) = &legend.file {
        page.raw(" ");
        page.inline("code", "", file);
    }
    page.raw("</p>\n");
    page.raw(&format!(
        "<div class=\"scroll tall\" tabindex=\"0\"><table aria-labelledby=\"{id}\">\n"
    ));
}

/// Closes it.
pub(super) fn close(page: &mut Html) {
    page.raw("</table></div>\n");
}

/// Adds the numbers of an experiment; rows that begin alike belong together.
pub(super) fn add(page: &mut Html, outcome: &str, table: &Table) {
    let legend = Legend {
        caption: &table.caption,
        file: Some(format!("{outcome}/{}.csv", table.name)),
    };
    open(
        page,
        &format!("{}-{}", id(outcome), id(&table.name)),
        &legend,
    );
    page.raw("<thead><tr>");
    for (place, column) in table.columns.iter().enumerate() {
        let mut cells = table.rows.iter().filter_map(|row| row.get(place));
        let class = if 0 < place && cells.any(is_number) {
            "number"
        } else {
            ""
        };
        page.inline("th", class, &column.title);
    }
    page.raw("</tr></thead>\n");
    let is_alike = |left: &Vec<Cell>, right: &Vec<Cell>| left.first() == right.first();
    for group in table.rows.chunk_by(is_alike) {
        page.raw("<tbody>\n");
        for (row, cells) in group.iter().enumerate() {
            page.raw("<tr>");
            if let (0, Some(first)) = (row, cells.first()) {
                let span = group.len();
                page.raw(&format!("<th scope=\"rowgroup\" rowspan=\"{span}\">"));
                page.escaped(&first.to_string());
                page.raw("</th>");
            }
            for value in cells.iter().skip(1) {
                let class = if is_number(value) { "number" } else { "" };
                page.inline("td", class, &value.to_string());
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody>\n");
    }
    close(page);
}

/// Whether a cell is set as a number: names of pages, which are numbers, too.
fn is_number(cell: &Cell) -> bool {
    match cell {
        Cell::Text(text) => text.parse::<u32>().is_ok(),
        Cell::Count(_)
        | Cell::Share(_)
        | Cell::Difference(_)
        | Cell::Part(_)
        | Cell::Seconds(_)
        | Cell::None => true,
    }
}
