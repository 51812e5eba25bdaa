/*
 * One suite for all that reads what the CDK makes: each suite loads the CDK anew, which takes longer than most of these tests do, and
 * what is made of the same settings is made once.
 */
import './app/alerts.ts';
import './app/billing.ts';
import './app/config.ts';
import './app/containers.ts';
import './app/cost.ts';
import './app/dashboard-api.ts';
import './app/data.ts';
import './app/exports.ts';
import './app/first-deployment.ts';
import './app/functions.ts';
import './app/gateway.ts';
import './app/github-trust.ts';
import './app/identity.ts';
import './app/mail.ts';
import './app/monitoring.ts';
import './app/pipeline.ts';
import './app/policies.ts';
import './app/quotas.ts';
import './app/unused-permissions.ts';
import './app/updates.ts';
import './app/usage.ts';
import './app/web.ts';
