import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { corsHeaders } from './error-responses.ts';

type Rule = CfnWebACL.RuleProperty;
type Statement = CfnWebACL.StatementProperty;

/** A group of rules that AWS keeps up to date. */
export interface ManagedRules {
  readonly name: string;
  /** Rules of the group that count and do not block. */
  readonly countOnly?: readonly string[];
  /** The whole group counts only. */
  readonly observe?: boolean;
}

/** More than `limit` requests of one address in five minutes that match `counts` get 429. */
export interface RateRule {
  readonly name: string;
  readonly limit: number;
  readonly counts: Statement;
}

export interface FirewallProps {
  readonly managedRules: readonly ManagedRules[];
  readonly rateRules: readonly RateRule[];
  /** Web origins whose pages must be able to read a refusal. */
  readonly corsOrigins: readonly string[];
}

const WINDOW_SECONDS = 300;
const RATE_LIMITED = 'rateLimited';

/** The firewall cannot name a request: its response is fixed text. */
const RATE_LIMITED_BODY = JSON.stringify({
  error: {
    code: 'RATE_LIMITED',
    message: 'Too many of these requests from your address: pause for five minutes.',
    type: 'gateway_error',
    requestId: 'not-assigned',
  },
});

/** Metrics only: samples of requests would show headers with credentials. */
const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
});

const rateRule = ({ name, limit, counts }: RateRule, corsOrigins: readonly string[]): Omit<Rule, 'priority'> => ({
  name,
  statement: {
    rateBasedStatement: {
      aggregateKeyType: 'IP',
      limit,
      evaluationWindowSec: WINDOW_SECONDS,
      scopeDownStatement: counts,
    },
  },
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: RATE_LIMITED,
        responseHeaders: Object.entries({ 'Retry-After': String(WINDOW_SECONDS), ...corsHeaders(corsOrigins) }).map(
          ([name, value]) => ({ name, value }),
        ),
      },
    },
  },
  visibilityConfig: visibility(name),
});

const managedRule = ({ name, countOnly = [], observe = false }: ManagedRules): Omit<Rule, 'priority'> => ({
  name,
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ...(countOnly.length > 0
        ? { ruleActionOverrides: countOnly.map((rule) => ({ name: rule, actionToUse: { count: {} } })) }
        : {}),
    },
  },
  overrideAction: observe ? { count: {} } : { none: {} },
  visibilityConfig: visibility(name),
});

/** A web ACL for given APIs and load balancers. Rate rules come first: they are the cheapest, and stop a flood before other rules run. */
export class Firewall extends Construct {
  readonly #acl: CfnWebACL;

  constructor(scope: Construct, id: string, { managedRules, rateRules, corsOrigins }: FirewallProps) {
    super(scope, id);
    const rules = [...rateRules.map((rule) => rateRule(rule, corsOrigins)), ...managedRules.map(managedRule)];
    this.#acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      customResponseBodies: { [RATE_LIMITED]: { contentType: 'APPLICATION_JSON', content: RATE_LIMITED_BODY } },
      visibilityConfig: visibility(id),
      rules: rules.map((rule, priority) => ({ ...rule, priority })),
    });
  }

  /** @param resourceArn of an API's stage or a load balancer */
  protect(scope: Construct, resourceArn: string): void {
    new CfnWebACLAssociation(scope, 'Firewall', { webAclArn: this.#acl.attrArn, resourceArn });
  }
}
