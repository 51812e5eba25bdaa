import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { operations } from '../../lambda/dashboard/operations.ts';
import { keyCarriers } from '../../lambda/gateway/admission/service-key.ts';
import type { ManagedRules, RateRule } from '../constructs/firewall.ts';
import type { FirewallSettings } from '../stage-settings.ts';

/**
 * Prompts are full of code, SQL, markup and shell: no rule may judge a body. These groups' body rules count and never block;
 * what they say of paths, query strings and headers holds.
 *
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
const knownBadInputs: ManagedRules = {
  name: 'AWSManagedRulesKnownBadInputsRuleSet',
  countOnly: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
};

const ipReputation: ManagedRules = { name: 'AWSManagedRulesAmazonIpReputationList' };

/** Dashboard bodies hold passwords, names, webhook addresses and signed payloads, queries and paths hold tags: handlers parse them, the firewall does not. */
const commonRules: ManagedRules = {
  name: 'AWSManagedRulesCommonRuleSet',
  countOnly: [
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
    // A filter names tags and models, dozens of them, and a tag may be a URL, a file name or markup.
    'SizeRestrictions_QUERYSTRING',
    'EC2MetaDataSSRF_QUERYARGUMENTS',
    'GenericLFI_QUERYARGUMENTS',
    'GenericRFI_QUERYARGUMENTS',
    'RestrictedExtensions_QUERYARGUMENTS',
    'CrossSiteScripting_QUERYARGUMENTS',
    // The path of a limit's value has the tag, that of a session its id.
    'EC2MetaDataSSRF_URIPATH',
    'GenericLFI_URIPATH',
    'GenericRFI_URIPATH',
    'RestrictedExtensions_URIPATH',
    'CrossSiteScripting_URIPATH',
    // API clients need not send a User-Agent.
    'NoUserAgent_HEADER',
  ],
};

const matches = (fieldToMatch: CfnWebACL.FieldToMatchProperty, regexString: string): CfnWebACL.StatementProperty => ({
  regexMatchStatement: { regexString, fieldToMatch, textTransformations: [{ priority: 0, type: 'NONE' }] },
});
const header = (name: string): CfnWebACL.FieldToMatchProperty => ({ singleHeader: { Name: name } });

/** The shape of an account key without its checksum. @see lambda/domain/accounts/issued-secret.ts */
const KEY = 'svc_[0-9A-Za-z]{30}';

/** At API Gateway's own address the path begins with the stage, and names the provider. */
const START = '^(/live/gateway/[^/]+)?';

/**
 * Requests with a service key in one of its places (lambda/gateway/admission/service-key.ts; of a WebSocket's handshake
 * lambda/gateway/websocket/proxy-websocket.ts), and those that need none.
 */
const withKeyOrWithoutNeed: readonly CfnWebACL.StatementProperty[] = [
  matches(header('x-service-key'), `^${KEY}$`),
  matches({ uriPath: {} }, `${START}/${KEY}(/|$)`),
  ...keyCarriers.map((name) => matches(header(name), `^([A-Za-z]+ +)?${KEY}:`)),
  matches(header('sec-websocket-protocol'), `(^|[ ,])openai-insecure-api-key[.]${KEY}[.:]`),
  matches({ queryString: {} }, `(^|&)(key|access_token)=${KEY}(:|%3[Aa])`),
  matches({ uriPath: {} }, `${START}/health$`),
  // A browser's preflight.
  matches({ method: {} }, '^OPTIONS$'),
];

/**
 * Rules of the proxy. A wrong entry in a reputation list would break a client's traffic, so the list only counts here.
 * Every call needs a key. Calls without a well-formed key are guesses, which the rate rule slows.
 */
export const gatewayFirewall = (settings: FirewallSettings) => ({
  managedRules: [{ ...ipReputation, observe: true }, knownBadInputs],
  rateRules: [
    {
      name: 'MalformedServiceKeys',
      limit: settings.malformedKeysPer5Minutes,
      counts: {
        andStatement: {
          statements: withKeyOrWithoutNeed.map((statement) => ({ notStatement: { statement } })),
        },
      },
    },
  ] satisfies RateRule[],
});

/**
 * The paths with a limit for one client. The others stay out: an office behind one address asks for `/auth/me` and refreshes tokens all
 * day. The API's own limits are lower, say when to try again, and hold without a firewall; this one stops a flood before it costs anything.
 */
const limitedPaths = new Set(
  operations.filter(({ rateLimits }) => rateLimits?.perClient !== undefined).map(({ path }) => path.slice(1)),
);

/** AWS WAF takes at most 200 characters, so each first part of the paths is written once. */
const limitedPathsPattern = `^(/live)?/api/(${[...Map.groupBy(limitedPaths, (path) => path.replace(/\/.*/, ''))]
  .map(([first, paths]) => `${first}(${paths.map((path) => path.slice(first.length)).join('|')})`)
  .join('|')})/?$`;

export const dashboardFirewall = (settings: FirewallSettings) => ({
  managedRules: [ipReputation, knownBadInputs, commonRules],
  rateRules: [
    {
      name: 'AuthRequests',
      limit: settings.authRequestsPer5Minutes,
      counts: {
        regexMatchStatement: {
          regexString: limitedPathsPattern,
          fieldToMatch: { uriPath: {} },
          textTransformations: [{ priority: 0, type: 'NORMALIZE_PATH' }],
        },
      },
    },
  ] satisfies RateRule[],
});
