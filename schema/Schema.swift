/// The SQL migrations and the OpenAPI document in `schema/`. They are compiled into the program, so that the program
/// needs no other files at run time.
package enum Schema {
    /// The migrations of the main database, oldest first: each one's name and SQL text. The first migration creates
    /// schema version 1, and each further migration increases the version by 1. Never edit a released migration: the
    /// daemon refuses a database that was created with another text of a migration.
    package static let migrations: [(name: String, sql: String)] = [
        ("v0001_initial", String(decoding: PackageResources.v0001_initial_sql, as: UTF8.self))
    ]

    /// The migrations of the claims database, oldest first. This database contains the records of used payment tokens
    /// and of used nonces.
    package static let claimsMigrations: [(name: String, sql: String)] = [
        ("v0001_claims", String(decoding: PackageResources.v0001_claims_sql, as: UTF8.self)),
        ("v0002_nonces", String(decoding: PackageResources.v0002_nonces_sql, as: UTF8.self)),
    ]

    /// The migrations of a PostgreSQL database, oldest first. This database also contains the claims.
    package static let postgresqlMigrations: [(name: String, sql: String)] = [
        ("v0001_postgresql", String(decoding: PackageResources.v0001_postgresql_sql, as: UTF8.self))
    ]

    /// The SQL text that gives the rights of a daemon to the role `merchantkeyd_daemon`, if this role exists.
    package static let postgresqlRights = String(decoding: PackageResources.rights_sql, as: UTF8.self)

    /// The OpenAPI document of the HTTP interface, which the admin server returns at `/v1/openapi.yaml`.
    package static let openAPI: [UInt8] = PackageResources.openapi_yaml
}
