//! A picture among the lines that are printed for good.

use ratatui::text::Line;

use super::{Cursor, Screen};
use crate::images::Placed;

impl Screen {
    /// Prints a picture, for good, and below it `live` in place of what was there: blank rows, which the
    /// picture is then drawn over while they are on the screen.
    ///
    /// At another size of the screen the last rows are drawn anew as lines, and the pictures among them are
    /// gone: `tail` of [`Screen::resize`] names them.
    pub fn show_picture(
        &mut self,
        picture: &Placed,
        live: Vec<Line<'static>>,
        cursor: Option<Cursor>,
    ) -> String {
        let blank = vec![Line::default(); usize::from(picture.rows())];
        // Without anything below, so that all of the picture is on the screen when it is drawn. One that was
        // made for a higher screen would be drawn over what is not its own.
        let mut out = self.show(&blank, Vec::new(), None);
        if picture.rows() < self.rows {
            out += &picture.over();
        }
        out + &self.show(&[], live, cursor)
    }
}
