/// What stands in `schema/`, carried inside the program: it needs no files beside it.
package enum Schema {
    /// Every migration of the database, oldest first; the first one leads to version 1. Once shipped, none is edited.
    package static let migrations: [(name: String, sql: String)] = [
        ("v0001_foundation", String(decoding: PackageResources.v0001_foundation_sql, as: UTF8.self)),
        ("v0002_registrations", String(decoding: PackageResources.v0002_registrations_sql, as: UTF8.self)),
        ("v0003_recovery", String(decoding: PackageResources.v0003_recovery_sql, as: UTF8.self)),
        ("v0004_rolls", String(decoding: PackageResources.v0004_rolls_sql, as: UTF8.self)),
        ("v0005_events", String(decoding: PackageResources.v0005_events_sql, as: UTF8.self)),
        ("v0006_rotation", String(decoding: PackageResources.v0006_rotation_sql, as: UTF8.self)),
        ("v0007_status", String(decoding: PackageResources.v0007_status_sql, as: UTF8.self)),
    ]

    /// The same of the claims' own database.
    package static let claimsMigrations: [(name: String, sql: String)] = [
        ("v0001_claims", String(decoding: PackageResources.v0001_claims_sql, as: UTF8.self))
    ]

    /// The contract of the HTTP interface, as served at `/v1/openapi.yaml`.
    package static let openAPI: [UInt8] = PackageResources.openapi_yaml
}
