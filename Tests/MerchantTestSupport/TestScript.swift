import Foundation

/// Scripts that several test targets run.
package enum TestScript {
    /// The path of `site.py`: a merchant's web site that serves the domain verification file.
    package static let site = path("site")

    /// The path of `postgres-server.py`: a PostgreSQL server that ends with the test process.
    static let postgresServer = path("postgres-server")

    private static func path(_ name: String) -> String {
        guard let path = Bundle.module.path(forResource: name, ofType: "py", inDirectory: "Scripts") else {
            preconditionFailure("Package.swift copies the folder Scripts")
        }
        return path
    }
}
