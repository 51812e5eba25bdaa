import { CfnOutput } from 'aws-cdk-lib';
import { DomainName, EndpointType, SecurityPolicy, type SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, type IAliasRecordTarget, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct, type IDependable } from 'constructs';

/** Where the DNS records of a domain are made; undefined where they are made by hand. */
export type Zone = { readonly id: string; readonly name: string } | undefined;

/** The zone, once for a scope; undefined where there is none. */
export const importZone = (scope: Construct, zone: Zone) =>
  zone && HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId: zone.id, zoneName: zone.name });

/**
 * A certificate for a host name or for `*.` and a domain. Without a zone the deployment waits until the validation record, shown
 * by the certificate manager, exists wherever the DNS is.
 */
const dnsCertificate = (scope: Construct, id: string, domainName: string, zone: Zone): Certificate =>
  new Certificate(scope, id, {
    domainName,
    validation: CertificateValidation.fromDns(importZone(new Construct(scope, `${id}Validation`), zone)),
  });

/**
 * The domain of an API with a new certificate; undefined for a stage without domains.
 *
 * @param scope has the certificate
 */
export const domainOfApi = (
  scope: Construct,
  domainName: string,
  { customDomains, hostedZone }: { readonly customDomains: boolean; readonly hostedZone?: Zone },
) =>
  customDomains
    ? { domainName, certificate: dnsCertificate(scope, 'Certificate', domainName, hostedZone), hostedZone }
    : undefined;

export interface HostRecordProps {
  readonly domainName: string;
  readonly hostedZone: Zone;
  readonly target: IAliasRecordTarget;
  /** Host name of the target, for a record made by hand. */
  readonly targetName: string;
  /** Serves before the name leads to it. */
  readonly serving: IDependable;
}

/** Points a name at what serves it, where the zone is known; an output says what to do elsewhere. */
export const addHostRecord = (scope: Construct, props: HostRecordProps): void => {
  const zone = importZone(scope, props.hostedZone);
  if (zone === undefined) {
    new CfnOutput(scope, 'Target', {
      description: `Make ${props.domainName} a CNAME of this`,
      value: props.targetName,
    });
    return;
  }
  const record = new ARecord(scope, 'Alias', {
    zone,
    // The dot at the end makes the name absolute; otherwise the zone's name is appended.
    recordName: `${props.domainName}.`,
    target: RecordTarget.fromAlias(props.target),
  });
  record.node.addDependency(props.serving);
};

export interface RegionalDomainProps {
  /** A host name, or `*.` and a domain for every host one level below it. */
  readonly domainName: string;
  readonly api: SpecRestApi;
  readonly certificate: Certificate;
  readonly hostedZone: Zone;
}

/** A custom domain of a REST API and, where the zone is known, its alias record. */
export class RegionalDomain extends Construct {
  constructor(scope: Construct, id: string, props: RegionalDomainProps) {
    super(scope, id);
    const domain = new DomainName(this, 'Domain', {
      domainName: props.domainName,
      certificate: props.certificate,
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    addHostRecord(this, {
      ...props,
      target: new ApiGatewayDomain(domain),
      targetName: domain.domainNameAliasDomainName,
      serving: domain.addBasePathMapping(props.api),
    });
  }
}
