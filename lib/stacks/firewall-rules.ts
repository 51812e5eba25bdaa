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

/** Dashboard bodies hold passwords, names, webhook addresses and signed payloads: handlers parse them, the firewall does not. */
const commonRules: ManagedRules = {
  name: 'AWSManagedRulesCommonRuleSet',
  countOnly: [
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
    // A program that calls the API need not say what it is.
    'NoUserAgent_HEADER',
  ],
};

/**
 * Of the proxy. A reputation list that errs would break a client's traffic, so here it counts only.
 * Every call needs a key; what has none in the right shape is cheap guessing, and guessing is what the rate rule slows.
 */
export const gatewayFirewall = (settings: FirewallSettings) => ({
  managedRules: [{ ...ipReputation, observe: true }, knownBadInputs],
  rateRules: [
    {
      name: 'MalformedServiceKeys',
      limit: settings.malformedKeysPer5Minutes,
      counts: {
        andStatement: {
          statements: [
            {
              notStatement: {
                statement: {
                  regexMatchStatement: {
                    // The shape of an account key without its checksum. @see lambda/domain/accounts/account-key.ts
                    regexString: '^svc_[0-9A-Za-z]{30}$',
                    fieldToMatch: { singleHeader: { Name: 'x-service-key' } },
                    textTransformations: [{ priority: 0, type: 'NONE' }],
                  },
                },
              },
            },
            {
              notStatement: {
                statement: {
                  byteMatchStatement: {
                    searchString: '/health',
                    positionalConstraint: 'EXACTLY',
                    fieldToMatch: { uriPath: {} },
                    textTransformations: [{ priority: 0, type: 'NONE' }],
                  },
                },
              },
            },
          ],
        },
      },
    },
  ] satisfies RateRule[],
});

export const dashboardFirewall = (settings: FirewallSettings) => ({
  managedRules: [ipReputation, knownBadInputs, commonRules],
  rateRules: [
    {
      name: 'AuthRequests',
      limit: settings.authRequestsPer5Minutes,
      counts: {
        byteMatchStatement: {
          searchString: '/api/auth/',
          positionalConstraint: 'STARTS_WITH',
          fieldToMatch: { uriPath: {} },
          textTransformations: [{ priority: 0, type: 'NORMALIZE_PATH' }],
        },
      },
    },
  ] satisfies RateRule[],
});
