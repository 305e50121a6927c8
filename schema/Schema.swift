/// The files of `schema/`, embedded in the program, so that it needs no files beside it.
package enum Schema {
    /// The migrations of the main database, oldest first. The first one leads to version 1. A released migration is never
    /// edited.
    package static let migrations: [(name: String, sql: String)] = [
        ("v0001_initial", String(decoding: PackageResources.v0001_initial_sql, as: UTF8.self))
    ]

    /// The migrations of the claims database, oldest first.
    package static let claimsMigrations: [(name: String, sql: String)] = [
        ("v0001_claims", String(decoding: PackageResources.v0001_claims_sql, as: UTF8.self))
    ]

    /// The contract of the HTTP interface, served at `/v1/openapi.yaml`.
    package static let openAPI: [UInt8] = PackageResources.openapi_yaml
}
