import type { components, paths } from './schema.d.ts';

/** Bodies of the API's requests and responses, by the names used here. */

export type SpendReport = paths['/spend']['get']['responses']['200']['content']['application/json'];
export type SpendTotals = SpendReport['totals'];
export type SpendGroup = SpendReport['groups'][number];
export type SpendPoint = SpendReport['series'][number];
export type SpendChange = components['schemas']['SpendChange'];

export type RequestSummary = components['schemas']['RequestSummary'];
export type RequestDetail = components['schemas']['Request'];
export type RequestsQuery = NonNullable<NonNullable<paths['/requests']['get']['parameters']>['query']>;

type SessionList = paths['/sessions']['get']['responses']['200']['content']['application/json'];
export type SessionSummary = SessionList['items'][number];
type SessionTree = paths['/sessions/{sessionId}']['get']['responses']['200']['content']['application/json'];
export type SessionAgent = SessionTree['agents'][number];

export type AlertsQuery = NonNullable<NonNullable<paths['/alerts']['get']['parameters']>['query']>;
export type Alert = components['schemas']['Alert'];
export type FinalFigure = NonNullable<components['schemas']['AlertWithFinal']['final']>;
export type AlertRule = components['schemas']['AlertRule'];
/** How each channel took a message that was sent at once. */
export type Sent = paths['/alert-rules/{id}/test']['post']['responses']['200']['content']['application/json'];
export type NewAlertRule = paths['/alert-rules']['post']['requestBody']['content']['application/json'];
type RulePreview = paths['/alert-rules/preview']['post']['responses']['200']['content']['application/json'];

export type BacktestPoint = RulePreview['points'][number];

export type BillingStatus = paths['/billing/status']['get']['responses']['200']['content']['application/json'];

export type PlanPriceItem =
  paths['/billing/prices']['get']['responses']['200']['content']['application/json']['items'][number];

/** What signing in gives a tab. */
export type Tokens = components['schemas']['Session'];
export type Me = paths['/auth/me']['get']['responses']['200']['content']['application/json'];
export type Key = components['schemas']['Key'];
export type Project = paths['/projects']['get']['responses']['200']['content']['application/json']['items'][number];
export type ApiToken = components['schemas']['ApiToken'];
export type SignOnSettings = components['schemas']['SignOnSettings'];
export type Budget = components['schemas']['Budget'];
export type LimitValue = components['schemas']['LimitValue'];
export type OwnLimit = paths['/own-limits']['get']['responses']['200']['content']['application/json']['items'][number];
export type Raise = components['schemas']['Raise'];
export type ReportList = paths['/reports']['get']['responses']['200']['content']['application/json'];
export type Report = components['schemas']['Report'];
export type NewReport = paths['/reports']['post']['requestBody']['content']['application/json'];
export type ReportWithRuns = paths['/reports/{id}']['get']['responses']['200']['content']['application/json'];
export type View = components['schemas']['View'];
export type Pause = components['schemas']['Pause'];
export type AccessRule = components['schemas']['AccessRule'];
export type NewAccessRule = paths['/access-rules']['post']['requestBody']['content']['application/json'];
export type Archive = components['schemas']['Archive'];
export type Member = components['schemas']['Member'];
export type Role = Member['role'];
export type Invitation = components['schemas']['Invitation'];
export type AuditQuery = NonNullable<NonNullable<paths['/audit']['get']['parameters']>['query']>;
export type AuditEntry = components['schemas']['AuditEntry'];
export type ExportedDay = components['schemas']['Export'];
export type WaitingExport = components['schemas']['WaitingExport'];
export type Destination = components['schemas']['Destination'];

export type OwnPrices = paths['/prices']['get']['responses']['200']['content']['application/json'];
export type OwnPrice = components['schemas']['Price'];
export type NewPrice = paths['/prices']['post']['requestBody']['content']['application/json'];
export type DisplayCurrency = components['schemas']['DisplayCurrency'];
export type PriceChangesReport = paths['/price-changes']['get']['responses']['200']['content']['application/json'];
type Savings = paths['/savings']['get']['responses']['200']['content']['application/json'];
export type Finding = Savings['items'][number];
export type Decided = Savings['decided'][number];
export type Reconciliation =
  paths['/reconciliation/{provider}']['get']['responses']['200']['content']['application/json'];
export type BillConnection =
  paths['/bill-connections']['get']['responses']['200']['content']['application/json']['items'][number];
