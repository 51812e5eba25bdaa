import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { CircleAlert, Compass, Unplug } from 'lucide-react';
import { Unreachable } from '../app.ts';
import { ReloadButton } from '../components/later.tsx';
import { AnchorLink, EmptyState, Page } from '../components/page.tsx';

/** Shown when the settings of the deployment cannot be loaded. */
export const CannotStart = ({ reason }: { readonly reason: string }) => (
  <main className="page">
    <EmptyState
      icon={Unplug}
      title="The dashboard cannot start"
      text={reason}
      action={<Button onClick={() => location.reload()}>Try again</Button>}
    />
  </main>
);

/** Shown when a view fails to load or render. After a deployment the old files may be gone: a reload helps. */
export const RouteProblem = ({ error }: { readonly error: unknown }) => {
  const router = useRouter();
  const isUnreachable = error instanceof Unreachable;
  return (
    <div className="page">
      <EmptyState
        icon={CircleAlert}
        title="This page could not be shown"
        text={isUnreachable ? error.message : 'The dashboard may have been updated while it was open.'}
        action={isUnreachable ? <Button onClick={() => void router.invalidate()}>Try again</Button> : <ReloadButton />}
      />
    </div>
  );
};

export const NotFound = () => (
  <main>
    <Page title="Page not found">
      <EmptyState icon={Compass} title="Nothing is here" action={<AnchorLink to="/">Go to the overview</AnchorLink>} />
    </Page>
  </main>
);
