import Crypto
import Vocabulary

/// A file that the pages load: the style sheet, the script and the icon.
///
/// The name in the path contains a digest of the content, so that browsers may keep a file without asking again, and
/// load a new one after an update of the daemon.
package struct PortalAsset: Sendable {
    package let path: String
    package let mediaType: String
    package let bytes: [UInt8]

    package static let styleSheet = PortalAsset(
        "style", "css", mediaType: "text/css; charset=utf-8", styles)
    package static let script = PortalAsset(
        "portal", "js", mediaType: "text/javascript; charset=utf-8", PackageResources.portal_js)
    package static let icon = PortalAsset("favicon", "svg", mediaType: "image/svg+xml", PackageResources.favicon_svg)

    package static let all = [styleSheet, script, icon]

    /// The parts of the style sheet. A later part overrides an earlier one, so the rules for screen widths come last.
    private static var styles: [UInt8] {
        [
            PackageResources.base_css, PackageResources.frame_css, PackageResources.controls_css,
            PackageResources.content_css, PackageResources.charts_css, PackageResources.screens_css,
        ].flatMap { $0 }
    }

    /// The value of `Cache-Control` of an asset.
    package static let cacheControl = "public, max-age=31536000, immutable"

    /// - Parameter path: the path of a request.
    package static func asset(at path: String) -> PortalAsset? { all.first { $0.path == path } }

    private init(_ name: String, _ ending: String, mediaType: String, _ bytes: [UInt8]) {
        let digest = Hex.encode(SHA256.hash(data: bytes)).prefix(16)
        path = "\(PortalPaths.assets)\(name).\(digest).\(ending)"
        self.mediaType = mediaType
        self.bytes = bytes
    }
}
