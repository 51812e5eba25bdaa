import { Duration, RemovalPolicy, SecretValue, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnUserPoolIdentityProvider,
  ClientAttributes,
  Mfa,
  OAuthScope,
  StringAttribute,
  UserPool,
  type UserPoolClient,
  UserPoolClientIdentityProvider,
  UserPoolEmail,
} from 'aws-cdk-lib/aws-cognito';
import type { Construct } from 'constructs';
import { MIN_PASSWORD_CHARACTERS } from '../../lambda/domain/accounts/passwords.ts';
import { SIGN_ON_CALLBACK } from '../../lambda/domain/accounts/sign-on.ts';
import type { StageSettings } from '../config.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { addressesOf, domainOf } from '../stage-settings.ts';
import type { MailSending, SignOnAccess, StageResources } from './resources.ts';

/** Internal id of the account a user was made for. The server sets it at registration; no token carries it, and nobody changes it. */
const ACCOUNT_ID_ATTRIBUTE = 'accountId';

const senderOfCodes = ({ from, configurationSetName }: MailSending, { region }: StageSettings) =>
  UserPoolEmail.withSES({
    fromEmail: from,
    sesVerifiedDomain: domainOf(from),
    configurationSetName,
    ...(region === undefined ? {} : { sesRegion: region }),
  });

type ProviderSettings = StageSettings['signOn']['providers'][string];

/**
 * A provider as Cognito describes it. A client secret stays in Secrets Manager: CloudFormation resolves the reference.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cognito-userpoolidentityprovider.html
 */
const providerDetails = (provider: ProviderSettings): Record<string, string> =>
  provider.type === 'saml'
    ? { MetadataURL: provider.metadataUrl, IDPSignout: 'false' }
    : {
        oidc_issuer: provider.issuer,
        client_id: provider.clientId,
        client_secret: SecretValue.secretsManager(provider.clientSecretName).unsafeUnwrap(),
        authorize_scopes: 'openid email profile',
        attributes_request_method: 'GET',
      };

/**
 * Claims of providers by attribute of the user pool, which takes them over at each sign-in. Cognito refuses whoever has no names at the
 * provider, since the pool requires them; an address without `email_verified` counts as not verified.
 */
const attributeMapping = (provider: ProviderSettings): Record<string, string | undefined> =>
  provider.type === 'saml'
    ? provider.attributes
    : { email: 'email', email_verified: 'email_verified', given_name: 'given_name', family_name: 'family_name' };

/** Who may use the dashboard. Users are made by POST /auth/register alone, together with their account. */
export class IdentityStack extends Stack {
  readonly userPool: UserPool;
  readonly userPoolClient: UserPoolClient;
  readonly signOn: SignOnAccess;

  constructor(scope: Construct, id: string, { settings, mail }: Pick<StageResources, 'settings' | 'mail'>) {
    super(scope, id);
    this.userPool = new UserPool(this, 'Users', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      // The one mail that Cognito sends here. CDK's own words are of the verification of a new account.
      userVerification: {
        emailSubject: 'Your code for a new password',
        emailBody:
          'Somebody, probably you, asked for a new password for AI Spend Gateway. To choose one, enter this code in the dashboard: {####}. The code works once, for an hour. If it was not you, ignore this mail: the password stays as it is.',
      },
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
      deletionProtection: settings.retention.protectedData === RemovalPolicy.RETAIN,
      removalPolicy: settings.retention.protectedData,
    });
    const providers = Object.entries(settings.signOn.providers).map(
      ([providerName, provider]) =>
        new CfnUserPoolIdentityProvider(this, `Provider${providerName}`, {
          userPoolId: this.userPool.userPoolId,
          providerName,
          providerType: provider.type === 'saml' ? 'SAML' : 'OIDC',
          providerDetails: providerDetails(provider),
          attributeMapping: attributeMapping(provider),
        }),
    );
    this.signOn = this.#signOn(settings);
    this.userPoolClient = this.userPool.addClient('Dashboard', {
      // Passwords come to our own handlers, which ask Cognito with their role: a browser cannot ask it around them.
      authFlows: { adminUserPassword: true },
      // The code of a sign-in is exchanged by our handler. Passwords never: Cognito's own pages know the identity providers alone.
      ...(providers.length === 0
        ? { disableOAuth: true }
        : {
            oAuth: {
              flows: { authorizationCodeGrant: true },
              scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
              callbackUrls: [`${settings.dashboardUrl}${SIGN_ON_CALLBACK}`],
            },
            supportedIdentityProviders: Object.keys(settings.signOn.providers).map(
              UserPoolClientIdentityProvider.custom,
            ),
          }),
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
    for (const provider of providers) this.userPoolClient.node.addDependency(provider);
    acknowledge(this.userPool, {
      COG1: 'NIST SP 800-63B advises against composition rules. lambda/domain/accounts/passwords.ts asks for length and for more than a bare word.',
      COG2: 'The second factor is optional in the pool. An account requires it of its members by a setting of the dashboard API.',
      COG8: 'The plus tier is priced per active user. Sign-in attempts are limited by rate at the firewall and by Cognito’s own lockout.',
    });
  }

  /** The user pool's domain, which identity providers lead back to. Only made where there is a provider. */
  #signOn({ signOn: { domainPrefix, providers } }: StageSettings): SignOnAccess {
    if (domainPrefix === undefined) return { origin: '', providers: {} };
    this.userPool.addDomain('SignOn', { cognitoDomain: { domainPrefix } });
    return {
      // Not of the domain itself: it could not be removed while another stack imports it.
      origin: `https://${domainPrefix}.auth.${this.region}.amazoncognito.com`,
      providers: addressesOf(providers),
    };
  }
}
