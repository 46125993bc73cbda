//! Why there is no page or picture.

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The numbers could not be had.
    #[error(transparent)]
    Inference(#[from] kelfi::Error),
    /// The page could not be written.
    #[error("the page could not be written: {0}\n  this is a bug in kelfi; please report how it came about")]
    Page(#[from] minijinja::Error),
    /// A figure could not be drawn as a picture.
    #[error("the picture could not be drawn: {0}\n  the SVG file is not affected; please report how it came about")]
    Picture(String),
}
