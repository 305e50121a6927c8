/// The files in `schema/`. They are compiled into the program, so that it needs no other files at run time.
package enum Schema {
    /// The migrations of the main database, oldest first. The first one creates schema version 1, and each further one
    /// increases the version by 1. Never edit a released migration: the daemon refuses a database that was created with
    /// another text.
    package static let migrations: [(name: String, sql: String)] = [
        ("v0001_initial", String(decoding: PackageResources.v0001_initial_sql, as: UTF8.self))
    ]

    /// The migrations of the claims database, oldest first.
    package static let claimsMigrations: [(name: String, sql: String)] = [
        ("v0001_claims", String(decoding: PackageResources.v0001_claims_sql, as: UTF8.self))
    ]

    /// The OpenAPI document of the HTTP interface, which the admin server returns at `/v1/openapi.yaml`.
    package static let openAPI: [UInt8] = PackageResources.openapi_yaml
}
