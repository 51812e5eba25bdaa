import { Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  ClientAttributes,
  Mfa,
  StringAttribute,
  UserPool,
  type UserPoolClient,
  UserPoolEmail,
} from 'aws-cdk-lib/aws-cognito';
import type { Construct } from 'constructs';
import { MIN_PASSWORD_CHARACTERS } from '../../lambda/domain/accounts/password-rules.ts';
import type { StageSettings } from '../config.ts';
import { domainOf, type MailSending } from './mail.ts';

interface IdentityStackProps extends StackProps {
  readonly settings: StageSettings;
  readonly mail: MailSending;
}

/** Internal id of the account a user was made for. The server sets it at registration; no token carries it, and nobody changes it. */
const ACCOUNT_ID_ATTRIBUTE = 'accountId';

const senderOfCodes = ({ from, configurationSetName }: MailSending, { region }: StageSettings) =>
  UserPoolEmail.withSES({
    fromEmail: from,
    sesVerifiedDomain: domainOf(from),
    configurationSetName,
    ...(region === undefined ? {} : { sesRegion: region }),
  });

/** Who may use the dashboard. Users are made by POST /auth/register alone, together with their account. */
export class IdentityStack extends Stack {
  readonly userPool: UserPool;
  readonly userPoolClient: UserPoolClient;

  constructor(scope: Construct, id: string, { settings, mail, ...props }: IdentityStackProps) {
    super(scope, id, props);
    this.userPool = new UserPool(this, 'Users', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      standardAttributes: {
        email: { required: true, mutable: true },
        givenName: { required: true, mutable: true },
        familyName: { required: true, mutable: true },
      },
      customAttributes: { [ACCOUNT_ID_ATTRIBUTE]: new StringAttribute({ mutable: false, minLen: 1, maxLen: 64 }) },
      passwordPolicy: {
        // The handler enforces these rules and explains them; were the pool stricter, registration would fail late.
        minLength: MIN_PASSWORD_CHARACTERS,
        requireLowercase: false,
        requireUppercase: false,
        requireDigits: false,
        requireSymbols: false,
        tempPasswordValidity: Duration.days(1),
      },
      // An account can require it: the dashboard API checks that, as not all accounts of a pool do.
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { sms: false, otp: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      // Cognito refuses a sender that is not verified yet; its own sends 50 mails a day.
      ...(settings.mail.cognito && { email: senderOfCodes(mail, settings) }),
      deletionProtection: settings.retention.data === RemovalPolicy.RETAIN,
      removalPolicy: settings.retention.data,
    });
    this.userPoolClient = this.userPool.addClient('Dashboard', {
      // Passwords come to our own handlers, which ask Cognito with their role: a browser cannot ask it around them.
      authFlows: { adminUserPassword: true },
      disableOAuth: true,
      // Only our handlers know the secret: whoever steals a refresh token cannot use it at Cognito's own API.
      generateSecret: true,
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      idTokenValidity: Duration.hours(1),
      accessTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      readAttributes: new ClientAttributes().withStandardAttributes({
        email: true,
        emailVerified: true,
        givenName: true,
        familyName: true,
      }),
      // Cognito wants required attributes to be writable. A user could write them with an access token only, and none leaves our handlers.
      writeAttributes: new ClientAttributes().withStandardAttributes({
        email: true,
        givenName: true,
        familyName: true,
      }),
    });
    Validations.of(this.userPool).acknowledge(
      {
        id: 'AwsSolutions-COG1',
        reason:
          'NIST SP 800-63B advises against composition rules. lambda/domain/accounts/password-rules.ts asks for length and for more than a bare word.',
      },
      {
        id: 'AwsSolutions-COG2',
        reason:
          'The second factor is optional in the pool. An account requires it of its members by a setting of the dashboard API.',
      },
      {
        id: 'AwsSolutions-COG8',
        reason:
          'The plus tier is priced per active user. Sign-in attempts are limited by rate at the firewall and by Cognito’s own lockout.',
      },
    );
  }
}
