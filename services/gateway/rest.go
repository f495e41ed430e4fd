package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/backend"
	gatewayv1 "github.com/fathom-research/fathom/services/gateway/internal/gen/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/input"
	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// newREST makes the routes that are generated from the proto. Nothing of a client's
// headers reaches state by itself.
func (s *Service) newREST(ctx context.Context, state *backend.Conn) (http.Handler, error) {
	none := func(string) (string, bool) { return "", false }
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &runtime.JSONPb{
			MarshalOptions: protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true},
		}),
		runtime.WithIncomingHeaderMatcher(none),
		runtime.WithOutgoingHeaderMatcher(none),
		runtime.WithDisablePathLengthFallback(),
		// grpc-gateway starts with empty metadata; the request's id goes on.
		runtime.WithMetadata(func(ctx context.Context, _ *http.Request) metadata.MD {
			own, _ := metadata.FromOutgoingContext(ctx)
			return own
		}),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			problem.Write(w, r, s.log, err)
		}),
	)
	err := gatewayv1.RegisterResearchServiceHandlerClient(ctx, mux, researchv1.NewResearchServiceClient(state))
	if err != nil {
		return nil, fmt.Errorf("register the REST routes: %w", err)
	}
	return mux, nil
}

// read checks a GET or DELETE before the generated code sees it.
func (s *Service) read(next http.Handler, parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := checkRead(r, parameters)
		if err != nil {
			problem.Write(w, r, s.log, err)
			return
		}
		request := r.Clone(r.Context())
		if request.Method == http.MethodHead {
			// The server leaves the body out by itself.
			request.Method = http.MethodGet
		}
		w.Header().Set("Cache-Control", "no-store")
		forward(next, w, request, nil)
	}
}

func checkRead(r *http.Request, parameters []string) error {
	values, err := input.Query(r, parameters...)
	if err != nil {
		return err
	}
	_, err = input.Integer("page_size", values.Get("page_size"), 1, 1000)
	if err != nil {
		return err
	}
	return input.Text("research_id", r.PathValue("research_id"))
}

// write checks a POST's body before the generated code decodes it.
func (s *Service) write(next http.Handler, message protoreflect.MessageDescriptor) http.HandlerFunc {
	keyed := message.Fields().ByName("idempotency_key") != nil
	return func(w http.ResponseWriter, r *http.Request) {
		object, err := s.parse(w, r, message)
		if err == nil && keyed {
			err = setKey(object, r.Header.Get("Idempotency-Key"), message)
		}
		if err != nil {
			problem.Write(w, r, s.log, err)
			return
		}
		forward(next, w, r.Clone(r.Context()), object.Bytes())
	}
}

// bodyTimeout bounds the sending of a request's body.
const bodyTimeout = 30 * time.Second

func (s *Service) parse(w http.ResponseWriter, r *http.Request, message protoreflect.MessageDescriptor) (*input.Object, error) {
	_, err := input.Query(r)
	if err != nil {
		return nil, err
	}
	err = input.Text("research_id", r.PathValue("research_id"))
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	// A reader without deadlines has a client that can't be slow.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, problem.New(http.StatusRequestEntityTooLarge, codes.InvalidArgument,
			fmt.Sprintf("The body must be at most %d bytes", large.Limit))
	}
	if err != nil {
		return nil, problem.Invalid("", "The body could not be read to its end")
	}
	return input.Parse(body, message, hidden(r)...)
}

// hidden are the fields that clients give in another place than the body.
func hidden(r *http.Request) []string {
	if r.PathValue("research_id") != "" {
		return []string{"research_id"}
	}
	return []string{"idempotency_key"}
}

// setKey hands the Idempotency-Key header on. A request for questions without one
// gets a key of its own, so that the gateway may repeat it towards state.
func setKey(object *input.Object, key string, message protoreflect.MessageDescriptor) error {
	err := input.IdempotencyKey(key)
	if err != nil {
		return err
	}
	if key == "" && message.Name() == "CreateQuestionsRequest" {
		key = "gateway-" + rand.Text()
	}
	if key != "" {
		object.Set("idempotency_key", key)
	}
	return nil
}

// forward hands a checked request to the generated code, without the headers that
// it would act on by itself.
func forward(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	for _, name := range []string{"Grpc-Timeout", "X-Http-Method-Override", "Authorization"} {
		r.Header.Del(name)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	next.ServeHTTP(w, r)
}
