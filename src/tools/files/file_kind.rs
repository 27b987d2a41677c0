//! The kind of a binary file, by its first bytes.

use imagesize::{ImageType, blob_size, image_type};

/// The number of leading bytes that are read. The size of a JPEG may follow a large preview.
pub(crate) const MAX_FILE_HEAD_BYTES: usize = 256 * 1024;

/// The kind of a file that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BinaryFileKind {
    /// An image: its format, and its width and height in pixels if they were found.
    Image(&'static str, Option<(usize, usize)>),
    /// Another kind, in words with an article.
    Other(&'static str),
}

/// The kind of the file that begins with `head`; `None` if it may be text, or is unknown.
pub(crate) fn file_kind(head: &[u8]) -> Option<BinaryFileKind> {
    if let Some(format) = image_format(head) {
        let size = blob_size(head).ok().map(|size| (size.width, size.height));
        return Some(BinaryFileKind::Image(format, size));
    }
    let known = OTHERS.iter().find(|(magic, _)| head.starts_with(magic));
    known.map(|(_, what)| BinaryFileKind::Other(what))
}

fn image_format(head: &[u8]) -> Option<&'static str> {
    Some(match image_type(head).ok()? {
        ImageType::Png => "PNG",
        ImageType::Jpeg => "JPEG",
        ImageType::Gif => "GIF",
        ImageType::Webp => "WebP",
        ImageType::Bmp => "BMP",
        ImageType::Ico => "ICO",
        ImageType::Tiff => "TIFF",
        ImageType::Psd => "PSD",
        ImageType::Jxl => "JPEG XL",
        ImageType::Heif(_) => "HEIF or AVIF",
        // Other formats are rare, and text can resemble some of them.
        _ => return None,
    })
}

/// The first bytes of file formats, and their descriptions.
const OTHERS: [(&[u8], &str); 16] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document made of one: docx, xlsx, jar, …)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"MZ", "a Windows program or library"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"!<arch>\n", "a static library"),
    (b"OggS", "Ogg audio or video"),
    (b"wOF2", "a web font"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_kind_recognises_images_with_size_and_pdf() {
        let png =
            b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x03\x20\x00\x00\x02\x58\x08\x06\x00\x00\x00";
        assert_eq!(file_kind(png), Some(BinaryFileKind::Image("PNG", Some((800, 600)))));
        assert_eq!(
            file_kind(b"GIF89a\x02\x00\x03\x00\x00\x00\x00"),
            Some(BinaryFileKind::Image("GIF", Some((2, 3))))
        );
        assert_eq!(file_kind(b"%PDF-1.7\n"), Some(BinaryFileKind::Other("a PDF document")));
        assert_eq!(file_kind(b"fn main() {}\n"), None);
        assert_eq!(file_kind(b""), None);
    }
}
