//! A drawing as a PNG file for papers: 300 dots per inch on white paper, with a font of its own, so that it needs none of the system.

use crate::error::Error;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, fontdb};
use std::sync::{Arc, OnceLock};

/// What SVG calls a pixel is a 96th of an inch.
const DOTS_PER_UNIT: f32 = 300.0 / 96.0;
/// 300 dots per inch as PNG files say it.
const DOTS_PER_METRE: u32 = 11_811;
const FONT: &str = "DejaVu Sans";

/// A drawing that stands alone (`Figure::standalone`) as a PNG file.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let tree = usvg::Tree::from_str(svg, &options()).map_err(|error| Error::Picture(error.to_string()))?;
    let size = tree.size();
    let dots = |length: f32| (length * DOTS_PER_UNIT).ceil() as u32;
    let (width, height) = (dots(size.width()), dots(size.height()));
    let mut paper = Pixmap::new(width, height).ok_or_else(|| Error::Picture(format!("{width} × {height} dots cannot be drawn")))?;
    paper.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(DOTS_PER_UNIT, DOTS_PER_UNIT), &mut paper.as_mut());
    encode(&paper).map_err(|error| Error::Picture(error.to_string()))
}

fn options() -> usvg::Options<'static> {
    usvg::Options { font_family: FONT.into(), fontdb: fonts(), ..usvg::Options::default() }
}

/// The two faces figures use; every family a drawing names is answered with them.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut database = fontdb::Database::new();
        database.load_font_data(dejavu::sans_condensed::regular().to_vec());
        database.load_font_data(dejavu::sans_condensed::bold().to_vec());
        database.set_sans_serif_family(FONT);
        Arc::new(database)
    };
    FONTS.get_or_init(load).clone()
}

/// Red, green and blue; the paper leaves nothing transparent.
fn encode(paper: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, paper.width(), paper.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: DOTS_PER_METRE, yppu: DOTS_PER_METRE, unit: png::Unit::Meter }));
    let colours: Vec<u8> = paper.pixels().iter().flat_map(|dot| [dot.red(), dot.green(), dot.blue()]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(bytes)
}
