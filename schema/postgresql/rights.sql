-- Run by the owner of the schema after each migration, and by 'merchantkeyd migrate'. Running it again changes nothing.
--
-- If the operator has created the role merchantkeyd_daemon, it gets the rights that a daemon needs at run time: it cannot
-- change the schema or disable a trigger, cannot change or delete audit records, and can delete only rows that are no history.
-- Without this role, the daemon connects as the owner of the tables.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'merchantkeyd_daemon') THEN
        GRANT USAGE ON SCHEMA merchantkeyd TO merchantkeyd_daemon;
        GRANT SELECT ON ALL TABLES IN SCHEMA merchantkeyd TO merchantkeyd_daemon;
        GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA merchantkeyd TO merchantkeyd_daemon;
        -- A backup contains the counters of the tables.
        GRANT SELECT ON ALL SEQUENCES IN SCHEMA merchantkeyd TO merchantkeyd_daemon;
        REVOKE INSERT, UPDATE ON instance, migrations FROM merchantkeyd_daemon;
        REVOKE UPDATE ON audit, events, token_notification_paths FROM merchantkeyd_daemon;
        REVOKE INSERT ON audit_head, totals, leader FROM merchantkeyd_daemon;
        GRANT DELETE ON idempotency_keys, key_watches, registration_domains, events, event_deliveries, access_secrets,
            portal_sessions, operator_logins, claims, nonces, token_notifications, token_notification_sources,
            token_notification_lanes, nodes, key_changes TO merchantkeyd_daemon;
    END IF;
END $$;
