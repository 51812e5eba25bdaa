import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CnameRecord } from 'aws-cdk-lib/aws-route53';
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailIdentity,
  EmailSendingEvent,
  EventDestination,
  Identity,
  SuppressionReasons,
} from 'aws-cdk-lib/aws-ses';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { LambdaSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { mailFeedbackEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { acknowledgePattern, arnOf } from '../constructs/grants.ts';
import { HandlerFunction, variablesOf } from '../constructs/handler-function.ts';
import { importZone } from '../constructs/regional-domain.ts';
import { grantItems } from '../constructs/table-access.ts';
import { domainOf } from '../stage-settings.ts';
import { partitions } from './partitions.ts';
import type { MailSending, StageResources } from './resources.ts';

/** The sender's identity with DKIM, where the settings ask for one, and the way back of bounces and complaints. */
export class MailStack extends Stack {
  readonly sending: MailSending;
  readonly feedback: HandlerFunction;

  constructor(scope: Construct, id: string, { settings, table }: Pick<StageResources, 'settings' | 'table'>) {
    super(scope, id);
    const from = settings.sender;
    const reports = new Topic(this, 'Reports', { enforceSSL: true });
    const configurationSet = new ConfigurationSet(this, 'ConfigurationSet', {
      reputationMetrics: true,
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
    });
    configurationSet.addEventDestination('Feedback', {
      destination: EventDestination.snsTopic(reports),
      events: [EmailSendingEvent.BOUNCE, EmailSendingEvent.COMPLAINT],
    });
    this.sending = { from, configurationSetName: configurationSet.configurationSetName };
    if (settings.mail.identity === 'create') this.#identity(domainOf(from), settings);

    this.feedback = new HandlerFunction(this, 'Feedback', {
      entry: 'lambda/mail-feedback/handler.ts',
      description: 'Bounces and complaints -> users who get no more mail',
      environment: variablesOf(mailFeedbackEnvironment, { TABLE_NAME: table.tableName }),
      timeout: Duration.seconds(30),
      memoryMb: 256,
      retention: settings.retention,
    });
    grantItems(this.feedback, table, { actions: ['Query', 'UpdateItem'], partitions: partitions.accounts });
    reports.addSubscription(new LambdaSubscription(this.feedback));
  }

  /** DKIM's records are made where the zone is known, and shown otherwise. Both outlive a change of `mail.identity` to `existing`. */
  #identity(domain: string, { hostedZone, retention }: StageSettings) {
    const identity = new EmailIdentity(this, 'Identity', { identity: Identity.domain(domain) });
    identity.applyRemovalPolicy(retention.data);
    const zone = importZone(this, hostedZone);
    for (const [index, { name, value }] of identity.dkimRecords.entries()) {
      if (zone) {
        const record = new CnameRecord(this, `Dkim${index}`, { zone, recordName: `${name}.`, domainName: value });
        record.applyRemovalPolicy(retention.data);
      } else new CfnOutput(this, `Dkim${index}`, { description: 'CNAME for DKIM', value: `${name} ${value}` });
    }
  }
}

/** Allows sending as one address only. */
export const grantSendMail = (grantee: IGrantable, stack: Stack, { from, configurationSetName }: MailSending): void => {
  const identities = arnOf(stack, 'ses', 'identity/*');
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [identities.arn, arnOf(stack, 'ses', `configuration-set/${configurationSetName}`).arn],
      conditions: { StringEquals: { 'ses:FromAddress': from } },
    }),
  );
  const reason = 'SES asks about the sender by its address or its domain, and in the sandbox about recipients, too.';
  acknowledgePattern(grantee, identities.shown, reason);
};
