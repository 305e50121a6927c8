import Foundation

/// Scripts that several test targets run.
package enum TestScript {
    /// The path of `site.py`: a merchant's web site that serves the domain verification file.
    package static let site: String = {
        guard let path = Bundle.module.path(forResource: "site", ofType: "py", inDirectory: "Scripts") else {
            preconditionFailure("Package.swift copies the folder Scripts")
        }
        return path
    }()
}
